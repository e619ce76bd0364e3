import { lstatSync } from "node:fs"
import type { Ignore } from "ignore"
import { inside, isSame, stampOf, type Inside, type Stamp } from "./inside.ts"

/** What changed below a folder since it was looked at. */
export interface Changes {
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

/** More than these are not looked at: such a tree is more than a workspace. */
const mostFiles = 200_000
const longestIgnore = 1_000_000
/** A change so soon after a look may have left the same time stamp. */
const blurMs = 50

interface Folder {
  stamp: Stamp
  lookedAt: number
  files: readonly string[]
  folders: readonly string[]
  /** Its own .gitignore, and what that was read from. */
  ignore: Ignore | undefined
  ignoreStamp: Stamp | undefined
}

/**
 * The files below a folder that are neither hidden, ignored by git, nor behind a link. A second look asks each known
 * folder for its time only: what is added, removed or renamed changes that, and nothing else has to be listed again.
 */
export class Tree {
  readonly #root: string
  readonly #folders = new Map<string, Folder>()
  #count = 0

  constructor(root: string) {
    this.#root = root
  }

  has(path: string): boolean {
    return this.#folders.has(path === "." ? "" : path)
  }

  get isWhole(): boolean {
    return this.#count < mostFiles
  }

  async look(): Promise<Changes> {
    const { default: ignore } = await import("ignore")
    const added: string[] = []
    const removed: string[] = []
    const reader = inside(this.#root)
    const rules = (path: string): Pick<Folder, "ignore" | "ignoreStamp"> => {
      const read = reader.read(join(path, ".gitignore"), longestIgnore)
      return read === undefined
        ? { ignore: undefined, ignoreStamp: undefined }
        : { ignore: ignore().add(read.bytes.toString()), ignoreStamp: read.stamp }
    }
    try {
      this.#visit("", [], { added, removed, rules, reader, again: false })
    } finally {
      reader.close()
    }
    return { added, removed }
  }

  #visit(path: string, above: readonly Above[], work: Work): void {
    const stamp = stampAt(this.#full(path))
    const known = this.#folders.get(path)
    if (stamp === undefined) return this.#drop(path, work)
    const sameRules = known !== undefined && !work.again && this.#rulesAreSame(path, known)
    const again = work.again || (known !== undefined && !sameRules)
    const isKnown =
      known !== undefined && !again && isSame(known.stamp, stamp) && known.stamp.mtimeMs < known.lookedAt - blurMs
    const folder = isKnown ? known : this.#list(path, stamp, above, { ...work, again })
    if (folder === undefined) return this.#drop(path, work)
    const below = folder.ignore === undefined ? above : [...above, { path, ignore: folder.ignore }]
    for (const name of folder.folders) this.#visit(join(path, name), below, { ...work, again })
  }

  /** Lists a folder, and forgets what is no longer in it. */
  #list(path: string, stamp: Stamp, above: readonly Above[], work: Work): Folder | undefined {
    const lookedAt = Date.now()
    const entries = work.reader.list(path)
    if (entries === undefined) return undefined
    const own = entries.some(({ name }) => name === ".gitignore")
      ? work.rules(path)
      : { ignore: undefined, ignoreStamp: undefined }
    const all = own.ignore === undefined ? above : [...above, { path, ignore: own.ignore }]
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
    const folder = { stamp, lookedAt, files, folders, ...own }
    this.#folders.set(path, folder)
    return folder
  }

  /** Tells what came and went, and returns what there is now: no more than there may be in all. */
  #compare(path: string, found: readonly string[], folders: readonly string[], work: Work): string[] {
    const known = this.#folders.get(path)
    const before = new Set(known?.files)
    const files = found.filter((name) => {
      if (before.delete(name)) return true
      if (this.#count >= mostFiles) return false
      this.#count++
      work.added.push(join(path, name))
      return true
    })
    this.#count -= before.size
    for (const name of before) work.removed.push(join(path, name))
    const still = new Set(folders)
    for (const name of known?.folders ?? []) if (!still.has(name)) this.#drop(join(path, name), work)
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
    return now !== undefined && isSame(now, ignoreStamp)
  }

  #full(path: string): string {
    return path === "" ? this.#root : `${this.#root}/${path}`
  }
}

interface Above {
  readonly path: string
  readonly ignore: Ignore
}

interface Work {
  readonly added: string[]
  readonly removed: string[]
  readonly reader: Inside
  rules(path: string): Pick<Folder, "ignore" | "ignoreStamp">
  /** What is ignored has changed further up: everything below is listed again. */
  readonly again: boolean
}

/** The nearest .gitignore that says something about it decides. */
function isIgnored(path: string, isFolder: boolean, above: readonly Above[]): boolean {
  for (const { path: from, ignore } of above.toReversed()) {
    const relative = from === "" ? path : path.slice(from.length + 1)
    const said = ignore.test(isFolder ? `${relative}/` : relative)
    if (said.ignored) return true
    if (said.unignored) return false
  }
  return false
}

function join(folder: string, name: string): string {
  return folder === "" ? name : `${folder}/${name}`
}

function stampAt(path: string): Stamp | undefined {
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false })
    return facts === undefined || facts.isSymbolicLink() ? undefined : stampOf(facts)
  } catch {
    return undefined
  }
}
