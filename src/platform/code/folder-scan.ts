import { lstatSync } from "node:fs"
import type { Ignore } from "ignore"
import { openFolderReader, isSameStamp, stampOf, type FolderReader, type FileStamp } from "./folder-reader.ts"

/** Changes below a folder since the last scan. */
export interface FolderChanges {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** More files than any workspace should have; the rest is left out. */
const maxFiles = 200_000
const maxIgnoreBytes = 1_000_000
/** A change this soon after a scan may have left the same time stamp. */
const blurMs = 50

interface Folder {
  stamp: FileStamp
  scannedAt: number
  files: readonly string[]
  folders: readonly string[]
  /** Its own .gitignore, and the stamp of that file. */
  ignore: Ignore | undefined
  ignoreStamp: FileStamp | undefined
}

/**
 * The files below a folder that are not hidden, ignored by git or behind a link. A later scan only checks the time stamp
 * of each known folder: adding, removing or renaming changes it, and only those folders are listed again.
 */
export class FolderScan {
  readonly #root: string
  readonly #folders = new Map<string, Folder>()
  #count = 0

  constructor(root: string) {
    this.#root = root
  }

  has(path: string): boolean {
    return this.#folders.has(path === "." ? "" : path)
  }

  get isComplete(): boolean {
    return this.#count < maxFiles
  }

  async rescan(): Promise<FolderChanges> {
    const { default: ignore } = await import("ignore")
    const added: string[] = []
    const removed: string[] = []
    const reader = openFolderReader(this.#root)
    const rules = (path: string): Pick<Folder, "ignore" | "ignoreStamp"> => {
      const read = reader.read(join(path, ".gitignore"), maxIgnoreBytes)
      return read === undefined
        ? { ignore: undefined, ignoreStamp: undefined }
        : { ignore: ignore().add(read.bytes.toString()), ignoreStamp: read.stamp }
    }
    try {
      this.#visit("", [], { added, removed, rules, reader, relist: false })
    } finally {
      reader.close()
    }
    return { added, removed }
  }

  #visit(path: string, outerRules: readonly OuterRules[], work: Work): void {
    const stamp = stampAt(this.#full(path))
    const known = this.#folders.get(path)
    if (stamp === undefined) return this.#drop(path, work)
    const sameRules = known !== undefined && !work.relist && this.#rulesAreSame(path, known)
    const relist = work.relist || (known !== undefined && !sameRules)
    const isKnown =
      known !== undefined &&
      !relist &&
      isSameStamp(known.stamp, stamp) &&
      known.stamp.mtimeMs < known.scannedAt - blurMs
    const folder = isKnown ? known : this.#list(path, stamp, outerRules, { ...work, relist })
    if (folder === undefined) return this.#drop(path, work)
    const below = folder.ignore === undefined ? outerRules : [...outerRules, { path, ignore: folder.ignore }]
    for (const name of folder.folders) this.#visit(join(path, name), below, { ...work, relist })
  }

  /** Lists a folder, and forgets what is no longer in it. */
  #list(path: string, stamp: FileStamp, outerRules: readonly OuterRules[], work: Work): Folder | undefined {
    const scannedAt = Date.now()
    const entries = work.reader.list(path)
    if (entries === undefined) return undefined
    const own = entries.some(({ name }) => name === ".gitignore")
      ? work.rules(path)
      : { ignore: undefined, ignoreStamp: undefined }
    const all = own.ignore === undefined ? outerRules : [...outerRules, { path, ignore: own.ignore }]
    const found: string[] = []
    const folders: string[] = []
    for (const entry of entries) {
      const { name } = entry
      if (name.startsWith(".") || name === "node_modules") continue
      const isFolder = entry.isDirectory()
      if (!isFolder && !entry.isFile()) continue
      if (isIgnored(join(path, name), isFolder, all)) continue
      ;(isFolder ? folders : found).push(name)
    }
    const files = this.#compare(path, found, folders, work)
    const folder = { stamp, scannedAt, files, folders, ...own }
    this.#folders.set(path, folder)
    return folder
  }

  /** Records what was added and removed, and returns the current files, up to the limit. */
  #compare(path: string, found: readonly string[], folders: readonly string[], work: Work): string[] {
    const known = this.#folders.get(path)
    const before = new Set(known?.files)
    const files = found.filter((name) => {
      if (before.delete(name)) return true
      if (this.#count >= maxFiles) return false
      this.#count++
      work.added.push(join(path, name))
      return true
    })
    this.#count -= before.size
    for (const name of before) work.removed.push(join(path, name))
    const remaining = new Set(folders)
    for (const name of known?.folders ?? []) if (!remaining.has(name)) this.#drop(join(path, name), work)
    return files
  }

  #drop(path: string, work: Work): void {
    const known = this.#folders.get(path)
    if (known === undefined) return
    this.#folders.delete(path)
    this.#count -= known.files.length
    work.removed.push(...known.files.map((name) => join(path, name)))
    for (const name of known.folders) this.#drop(join(path, name), work)
  }

  #rulesAreSame(path: string, { ignoreStamp }: Folder): boolean {
    if (ignoreStamp === undefined) return true
    const now = stampAt(this.#full(join(path, ".gitignore")))
    return now !== undefined && isSameStamp(now, ignoreStamp)
  }

  #full(path: string): string {
    return path === "" ? this.#root : `${this.#root}/${path}`
  }
}

interface OuterRules {
  readonly path: string
  readonly ignore: Ignore
}

interface Work {
  readonly added: string[]
  readonly removed: string[]
  readonly reader: FolderReader
  rules(path: string): Pick<Folder, "ignore" | "ignoreStamp">
  /** A .gitignore further up has changed, so every folder below is listed again. */
  readonly relist: boolean
}

/** The nearest .gitignore with a matching rule decides. */
function isIgnored(path: string, isFolder: boolean, outerRules: readonly OuterRules[]): boolean {
  for (const { path: from, ignore } of outerRules.toReversed()) {
    const relative = from === "" ? path : path.slice(from.length + 1)
    const result = ignore.test(isFolder ? `${relative}/` : relative)
    if (result.ignored) return true
    if (result.unignored) return false
  }
  return false
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`
}

function stampAt(path: string): FileStamp | undefined {
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false })
    return facts === undefined || facts.isSymbolicLink() ? undefined : stampOf(facts)
  } catch {
    return undefined
  }
}
