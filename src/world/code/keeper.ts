import { lstatSync } from "node:fs"
import type { CodeFound, CodeSearch } from "../../model/code.ts"
import { answer, type Hit } from "./answer.ts"
import { inside, isSame, stampOf, type Inside, type Stamp } from "./inside.ts"
import { readingOf, type Language, type Reading } from "./languages.ts"
import { declaredHits } from "./declared.ts"
import { fitsType, matcherOf, mayFit, small, type Matcher } from "./matcher.ts"
import type { Outline } from "./outline.ts"
import { plainHits } from "./plain.ts"
import { Tree } from "./tree.ts"

/** Larger files are searched plainly: what is that large was made by a machine. */
export const longestFile = 1_000_000
/** Characters of text that wait for their outline, and of names, that are held in memory. */
const mostText = 64_000_000
const mostNames = 64_000_000
/** When a file is older than this at its reading, a later change leaves another time. */
const blurMs = 50

export interface ParseJob {
  readonly path: string
  readonly grammar: Language
  readonly size: number
}

export interface Parsed {
  readonly path: string
  readonly stamp: Stamp
  readonly readAt: number
  /** Left out when the file has no tree. */
  readonly outline?: Outline | undefined
}

/** Turns files into outlines, somewhere else. What cannot be read is left out of the answer. */
export interface Parsing {
  /** That grammar will be needed soon. */
  warm?(grammar: Language): void
  parse(jobs: readonly ParseJob[], done: (parsed: readonly Parsed[]) => void, signal: AbortSignal): Promise<void>
}

/** One file of source code as it was last read. */
export interface Kept {
  readonly path: string
  readonly reading: Reading
  stamp: Stamp | undefined
  readAt: number
  /** Null when there is no syntax tree: no grammar here, too large, or not parsed. */
  outline: Outline | null | undefined
  /** Its names in small letters. */
  names: string | undefined
  /** Its text in small letters, until there is an outline. */
  text: string | undefined
}

/** Which files are asked. */
export interface Scope {
  readonly below: string
  readonly only?: ReadonlySet<string> | undefined
}

export interface KeeperOptions {
  /** The real path of the folder. */
  readonly root: string
  /** The only file below it that is looked at, hidden or not. */
  readonly file?: string | undefined
  readonly parsing: Parsing
  /** Which of these the fence shows. */
  shown(paths: readonly string[]): Promise<readonly boolean[]>
  /** How long a search waits for files to be parsed. */
  readonly patienceMs?: number
}

/**
 * The declarations below one folder. A file is parsed when a search asks for a name that its text has; the others follow
 * when nobody asks. That nothing has changed is known by the time of each file: 5,000 of them take about 10 ms to ask,
 * and unlike a watch on folders it misses nothing.
 */
export class Keeper {
  readonly #options: KeeperOptions
  readonly #tree: Tree
  readonly #files = new Map<string, Kept>()
  /** Everything that the fence shows, source code or not, with its path in small letters. */
  readonly #paths = new Map<string, string>()
  #textSize = 0
  #nameSize = 0

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#tree = new Tree(options.root)
  }

  /** Whether it knows that folder or file. */
  has(path: string): boolean {
    return this.#tree.has(path) || this.#paths.has(path)
  }

  /** Looks at what is there now. */
  async look(): Promise<void> {
    const { file } = this.#options
    const isNew = file !== undefined && !this.#paths.has(file)
    const { added, removed } =
      file === undefined ? await this.#tree.look() : { added: isNew ? [file] : [], removed: [] }
    for (const path of removed) this.#forget(path)
    if (added.length === 0) return
    const shown = await this.#options.shown(added)
    added.forEach((path, index) => {
      if (shown[index] !== true) return
      this.#paths.set(path, small(path))
      const reading = readingOf(path.slice(path.lastIndexOf("/") + 1))
      if (reading === undefined) return
      const empty = { stamp: undefined, readAt: 0, outline: undefined, names: undefined, text: undefined }
      this.#files.set(path, { path, reading, ...empty })
    })
    const most = mostFrequent([...this.#files.values()].flatMap(({ reading }) => reading.grammar ?? []))
    if (most !== undefined) this.#options.parsing.warm?.(most)
  }

  /** The files below a path, for whoever wants to leave some out. */
  paths(below: string): string[] {
    return [...this.#paths.keys()].filter((path) => isBelow(path, below))
  }

  async find(search: CodeSearch, scope: Scope, signal: AbortSignal): Promise<CodeFound> {
    const matcher = matcherOf(search)
    const isAsked = (path: string, language: string) =>
      (search.language ?? language) === language &&
      isBelow(path, scope.below) &&
      (scope.only === undefined || scope.only.has(path))
    const hits = fitsType("file", search.type) ? this.#named(matcher, isAsked) : []
    if (search.type === "file") return this.#answer(hits, { files: this.#paths.size, searched: 0, pending: 0 }, search)
    const there: Kept[] = []
    for (const kept of this.#files.values()) {
      if (isAsked(kept.path, kept.reading.language) && this.#isThere(kept)) there.push(kept)
    }
    const pending = await this.#parseWhatMayFit(there, matcher, signal)
    let searched = 0
    const reader = inside(this.#options.root)
    for (const kept of there) {
      if (kept.outline === undefined) continue
      if (kept.outline !== null) {
        hits.push(...declaredHits(kept, kept.outline, matcher, search))
        continue
      }
      const plain = this.#plain(kept, matcher, search, reader)
      if (plain === undefined) continue
      searched++
      hits.push(...plain)
    }
    reader.close()
    this.#trim(hits)
    return this.#answer(hits, { files: there.length, searched, pending }, search)
  }

  /** Parses a few of the files that nobody asked for yet; false when there is nothing left to do. */
  async fill(signal: AbortSignal): Promise<boolean> {
    if (this.#nameSize > mostNames) return false
    const jobs: ParseJob[] = []
    for (const kept of this.#files.values()) {
      if (kept.outline === undefined && kept.stamp !== undefined) jobs.push(jobOf(kept))
      if (jobs.length === 32) break
    }
    if (jobs.length === 0) return false
    await this.#parse(jobs, signal)
    return !signal.aborted
  }

  #named(matcher: Matcher, isAsked: (path: string, language: string) => boolean): Hit[] {
    const hits: Hit[] = []
    for (const [path, lower] of this.#paths) {
      const rank = matcher.path(path, lower)
      if (rank === undefined) continue
      const language = readingOf(path)?.language ?? "text"
      if (!isAsked(path, language)) continue
      hits.push({ path, rank, kind: "file", language, method: "name", name: path, line: 0, column: 0 })
    }
    return hits
  }

  #answer(hits: Hit[], counts: Pick<CodeFound, "files" | "searched" | "pending">, search: CodeSearch): CodeFound {
    return { ...answer(hits, search, this.#options.root), ...counts }
  }

  /** Asks a file for its time, and forgets what was read of an earlier version. */
  #isThere(kept: Kept): boolean {
    const facts = stampAt(`${this.#options.root}/${kept.path}`)
    if (facts === undefined) return false
    const isFresh = kept.stamp !== undefined && isSame(kept.stamp, facts) && kept.stamp.mtimeMs < kept.readAt - blurMs
    if (!isFresh) {
      this.#empty(kept)
      kept.stamp = facts
    }
    return true
  }

  /** Files whose text has not all of the literals cannot declare what is asked for. Returns how many were not ready. */
  async #parseWhatMayFit(files: readonly Kept[], matcher: Matcher, signal: AbortSignal): Promise<number> {
    const jobs: ParseJob[] = []
    const reader = inside(this.#options.root)
    let breathedAt = performance.now()
    for (const kept of files) {
      if (kept.outline !== undefined) continue
      const text = kept.text ?? this.#read(kept, reader)
      if (kept.reading.grammar === undefined || text.length > longestFile) kept.outline = null
      else if (mayFit(text, matcher)) jobs.push(jobOf(kept))
      if (performance.now() - breathedAt > 20) {
        await new Promise((resolve) => setImmediate(resolve))
        signal.throwIfAborted()
        breathedAt = performance.now()
      }
    }
    reader.close()
    await this.#parse(jobs, AbortSignal.any([signal, AbortSignal.timeout(this.#options.patienceMs ?? 20_000)]))
    signal.throwIfAborted()
    return jobs.filter(({ path }) => this.#files.get(path)?.outline === undefined).length
  }

  async #parse(jobs: readonly ParseJob[], signal: AbortSignal): Promise<void> {
    if (jobs.length === 0) return
    await this.#options.parsing.parse(
      jobs,
      (parsed) => {
        for (const one of parsed) this.#keep(one)
      },
      signal,
    )
    if (signal.aborted) return
    for (const { path } of jobs) {
      const kept = this.#files.get(path)
      if (kept?.outline === undefined && kept !== undefined) kept.outline = null
    }
  }

  #keep({ path, stamp, readAt, outline }: Parsed): void {
    const kept = this.#files.get(path)
    if (kept === undefined) return
    this.#empty(kept)
    kept.stamp = stamp
    kept.readAt = readAt
    kept.outline = outline ?? null
    if (outline === undefined) return
    kept.names = small(outline.names)
    this.#nameSize += outline.names.length * 2 + outline.numbers.length * 4
  }

  /** The text of a file in small letters. What is no text, or cannot be read, is empty. */
  #read(kept: Kept, reader: Inside): string {
    kept.readAt = Date.now()
    const read = reader.read(kept.path, 10 * longestFile)
    const isText = read !== undefined && !read.bytes.subarray(0, 8000).includes(0)
    const text = isText ? small(read.bytes.toString()) : ""
    kept.stamp = read?.stamp ?? kept.stamp
    if (this.#textSize + text.length <= mostText) {
      kept.text = text
      this.#textSize += text.length
    }
    return text
  }

  /** Undefined for a file that cannot have what is asked for, and was not searched. */
  #plain(kept: Kept, matcher: Matcher, search: CodeSearch, reader: Inside): Hit[] | undefined {
    const text = kept.text ?? this.#read(kept, reader)
    if (text === "" || !mayFit(text, matcher)) return undefined
    const read = reader.read(kept.path, 10 * longestFile)
    return read === undefined
      ? undefined
      : plainHits(kept.path, kept.reading.language, read.bytes.toString(), matcher, search)
  }

  #empty(kept: Kept): void {
    this.#textSize -= kept.text?.length ?? 0
    if (kept.outline) this.#nameSize -= kept.outline.names.length * 2 + kept.outline.numbers.length * 4
    kept.outline = kept.names = kept.text = undefined
  }

  #forget(path: string): void {
    this.#paths.delete(path)
    const kept = this.#files.get(path)
    if (kept !== undefined) this.#empty(kept)
    this.#files.delete(path)
  }

  /** Outlines that this search did not need make room: they are made again when they are asked for. */
  #trim(hits: readonly Hit[]): void {
    if (this.#nameSize <= mostNames) return
    const needed = new Set(hits.map(({ path }) => path))
    for (const kept of this.#files.values()) {
      if (this.#nameSize <= mostNames / 2) return
      if (kept.outline && !needed.has(kept.path)) this.#empty(kept)
    }
  }
}

function mostFrequent(grammars: readonly Language[]): Language | undefined {
  const counts = new Map<Language, number>()
  for (const grammar of grammars) counts.set(grammar, (counts.get(grammar) ?? 0) + 1)
  return [...counts].toSorted(([, one], [, other]) => other - one)[0]?.[0]
}

function jobOf({ path, reading, stamp }: Kept): ParseJob {
  return { path, grammar: reading.grammar!, size: stamp?.size ?? 0 }
}

function isBelow(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`)
}

function stampAt(path: string): Stamp | undefined {
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false })
    return facts?.isFile() === true ? stampOf(facts) : undefined
  } catch {
    return undefined
  }
}
