import { lstatSync } from "node:fs"
import type { CodeSearchResult, CodeSearch } from "./code.ts"
import { bestMatches, type Hit } from "./best-matches.ts"
import { openFolderReader, isSameStamp, stampOf, type FolderReader, type FileStamp } from "./folder-reader.ts"
import { sourceLanguageOf, type Language, type SourceLanguage } from "./languages.ts"
import { declarationHits } from "./declaration-hits.ts"
import { matchesType, matcherOf, mayMatch, foldCase, type Matcher } from "./matcher.ts"
import type { Outline } from "./outline.ts"
import { textHits } from "./text-hits.ts"
import { FolderScan } from "./folder-scan.ts"

/** Larger files are probably generated. They are searched as text, without parsing. */
export const maxParsedLength = 1_000_000
/** Limits on what is kept in memory: text that has no outline yet, and names. */
const maxTextCharacters = 64_000_000
const maxNameCharacters = 64_000_000
/** A file read this soon after its last change may change again with the same time stamp. */
const blurMs = 50

export interface ParseJob {
  readonly path: string
  readonly grammar: Language
  readonly size: number
}

export interface ParsedFile {
  readonly path: string
  readonly stamp: FileStamp
  readonly readAt: number
  /** Left out if the file could not be parsed. */
  readonly outline?: Outline
}

/** Turns files into outlines in other threads. Leaves out files that cannot be read. */
export interface FileParser {
  /** Loads a grammar that will be needed soon. */
  warm?(grammar: Language): void
  parse(jobs: readonly ParseJob[], done: (parsed: readonly ParsedFile[]) => void, signal: AbortSignal): Promise<void>
}

/** A source file as it was last read. */
export interface IndexedFile {
  readonly path: string
  readonly source: SourceLanguage
  stamp: FileStamp | undefined
  readAt: number
  /** Null when there is no syntax tree: no grammar here, too large, or not parsed. */
  outline: Outline | null | undefined
  /** Its names in lower case. */
  names: string | undefined
  /** Its text in lower case, until there is an outline. */
  text: string | undefined
}

/** The files to search. */
export interface Scope {
  readonly below: string
  readonly only?: ReadonlySet<string>
}

export interface FolderIndexOptions {
  /** The real path of the folder. */
  readonly root: string
  /** If set, only this file is indexed, even a hidden one. */
  readonly file?: string
  readonly parsing: FileParser
  /** Reports which of these paths agents may see. */
  shown(paths: readonly string[]): Promise<readonly boolean[]>
  /** Time that a search waits for files to be parsed. */
  readonly patienceMs?: number
}

/**
 * The declarations below one folder. A search parses only files whose text has the name; the others are parsed while
 * there is nothing to do. Each search checks the time stamp of every file: that takes about 10 ms for 5,000 files and,
 * unlike watching folders, misses no change.
 */
export class FolderIndex {
  readonly #options: FolderIndexOptions
  readonly #scan: FolderScan
  readonly #files = new Map<string, IndexedFile>()
  /** All visible paths, source code or not, with their lower-case form. */
  readonly #paths = new Map<string, string>()
  #textSize = 0
  #nameSize = 0

  constructor(options: FolderIndexOptions) {
    this.#options = options
    this.#scan = new FolderScan(options.root)
  }

  /** Reports whether it knows that folder or file. */
  has(path: string): boolean {
    return this.#scan.has(path) || this.#paths.has(path)
  }

  /** Finds added and removed files. */
  async refresh(): Promise<void> {
    const { file } = this.#options
    const isNew = file !== undefined && !this.#paths.has(file)
    const { added, removed } =
      file === undefined ? await this.#scan.rescan() : { added: isNew ? [file] : [], removed: [] }
    for (const path of removed) this.#forget(path)
    if (added.length === 0) return
    const shown = await this.#options.shown(added)
    added.forEach((path, index) => {
      if (shown[index] !== true) return
      this.#paths.set(path, foldCase(path))
      const source = sourceLanguageOf(path.slice(path.lastIndexOf("/") + 1))
      if (source === undefined) return
      const unread = { stamp: undefined, readAt: 0, outline: undefined, names: undefined, text: undefined }
      this.#files.set(path, { path, source, ...unread })
    })
    const most = mostFrequent([...this.#files.values()].flatMap(({ source }) => source.grammar ?? []))
    if (most !== undefined) this.#options.parsing.warm?.(most)
  }

  /** The files below a path, so that a caller can leave some out. */
  paths(below: string): string[] {
    return [...this.#paths.keys()].filter((path) => isBelow(path, below))
  }

  async find(search: CodeSearch, scope: Scope, signal: AbortSignal): Promise<CodeSearchResult> {
    const matcher = matcherOf(search)
    const isAsked = (path: string, language: string) =>
      (search.language ?? language) === language &&
      isBelow(path, scope.below) &&
      (scope.only === undefined || scope.only.has(path))
    const hits = matchesType("file", search.type) ? this.#named(matcher, isAsked) : []
    if (search.type === "file") return this.#answer(hits, { files: this.#paths.size, searched: 0, pending: 0 }, search)
    const present: IndexedFile[] = []
    for (const file of this.#files.values()) {
      if (isAsked(file.path, file.source.language) && this.#isPresent(file)) present.push(file)
    }
    const pending = await this.#parseCandidates(present, matcher, signal)
    let searched = 0
    const reader = openFolderReader(this.#options.root)
    for (const file of present) {
      if (file.outline === undefined) continue
      if (file.outline !== null) {
        hits.push(...declarationHits(file, file.outline, matcher, search))
        continue
      }
      const found = this.#searchText(file, matcher, search, reader)
      if (found === undefined) continue
      searched++
      hits.push(...found)
    }
    reader.close()
    this.#trim(hits)
    return this.#answer(hits, { files: present.length, searched, pending }, search)
  }

  /** Parses a few more files; false if nothing is left to do. */
  async parseRemaining(signal: AbortSignal): Promise<boolean> {
    if (this.#nameSize > maxNameCharacters) return false
    const jobs: ParseJob[] = []
    for (const file of this.#files.values()) {
      if (file.outline === undefined && file.stamp !== undefined) jobs.push(jobOf(file))
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
      const language = sourceLanguageOf(path)?.language ?? "text"
      if (!isAsked(path, language)) continue
      hits.push({ path, rank, kind: "file", language, method: "name", name: path, line: 0, column: 0 })
    }
    return hits
  }

  #answer(
    hits: Hit[],
    counts: Pick<CodeSearchResult, "files" | "searched" | "pending">,
    search: CodeSearch,
  ): CodeSearchResult {
    return { ...bestMatches(hits, search, this.#options.root), ...counts }
  }

  /** Reports whether the file still exists. Forgets what was read of an earlier version. */
  #isPresent(file: IndexedFile): boolean {
    const facts = stampAt(`${this.#options.root}/${file.path}`)
    if (facts === undefined) return false
    const isFresh =
      file.stamp !== undefined && isSameStamp(file.stamp, facts) && file.stamp.mtimeMs < file.readAt - blurMs
    if (!isFresh) {
      this.#reset(file)
      file.stamp = facts
    }
    return true
  }

  /** Parses the files whose text has all the literals; others cannot match. Returns how many were not ready in time. */
  async #parseCandidates(files: readonly IndexedFile[], matcher: Matcher, signal: AbortSignal): Promise<number> {
    const jobs: ParseJob[] = []
    const reader = openFolderReader(this.#options.root)
    let yieldedAt = performance.now()
    for (const file of files) {
      if (file.outline !== undefined) continue
      const text = file.text ?? this.#read(file, reader)
      if (file.source.grammar === undefined || text.length > maxParsedLength) file.outline = null
      else if (mayMatch(text, matcher)) jobs.push(jobOf(file))
      if (performance.now() - yieldedAt > 20) {
        await new Promise((resolve) => setImmediate(resolve))
        signal.throwIfAborted()
        yieldedAt = performance.now()
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
        for (const result of parsed) this.#store(result)
      },
      signal,
    )
    if (signal.aborted) return
    for (const { path } of jobs) {
      const file = this.#files.get(path)
      if (file?.outline === undefined && file !== undefined) file.outline = null
    }
  }

  #store({ path, stamp, readAt, outline }: ParsedFile): void {
    const file = this.#files.get(path)
    if (file === undefined) return
    this.#reset(file)
    file.stamp = stamp
    file.readAt = readAt
    file.outline = outline ?? null
    if (outline === undefined) return
    file.names = foldCase(outline.names)
    this.#nameSize += outline.names.length * 2 + outline.numbers.length * 4
  }

  /** The text of a file in lower case. Empty if it is binary or cannot be read. */
  #read(file: IndexedFile, reader: FolderReader): string {
    file.readAt = Date.now()
    const read = reader.read(file.path, 10 * maxParsedLength)
    const isText = read !== undefined && !read.bytes.subarray(0, 8000).includes(0)
    const text = isText ? foldCase(read.bytes.toString()) : ""
    file.stamp = read?.stamp ?? file.stamp
    if (this.#textSize + text.length <= maxTextCharacters) {
      file.text = text
      this.#textSize += text.length
    }
    return text
  }

  /** Searches a file without an outline. Undefined if it cannot match and was not searched. */
  #searchText(file: IndexedFile, matcher: Matcher, search: CodeSearch, reader: FolderReader): Hit[] | undefined {
    const text = file.text ?? this.#read(file, reader)
    if (text === "" || !mayMatch(text, matcher)) return undefined
    const read = reader.read(file.path, 10 * maxParsedLength)
    return read === undefined
      ? undefined
      : textHits(file.path, file.source.language, read.bytes.toString(), matcher, search)
  }

  #reset(file: IndexedFile): void {
    this.#textSize -= file.text?.length ?? 0
    if (file.outline) this.#nameSize -= file.outline.names.length * 2 + file.outline.numbers.length * 4
    file.outline = file.names = file.text = undefined
  }

  #forget(path: string): void {
    this.#paths.delete(path)
    const file = this.#files.get(path)
    if (file !== undefined) this.#reset(file)
    this.#files.delete(path)
  }

  /** Drops outlines that this search did not need when memory is short. They are parsed again when needed. */
  #trim(hits: readonly Hit[]): void {
    if (this.#nameSize <= maxNameCharacters) return
    const needed = new Set(hits.map(({ path }) => path))
    for (const file of this.#files.values()) {
      if (this.#nameSize <= maxNameCharacters / 2) return
      if (file.outline && !needed.has(file.path)) this.#reset(file)
    }
  }
}

function mostFrequent(grammars: readonly Language[]): Language | undefined {
  const counts = new Map<Language, number>()
  for (const grammar of grammars) counts.set(grammar, (counts.get(grammar) ?? 0) + 1)
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0]
}

function jobOf({ path, source, stamp }: IndexedFile): ParseJob {
  return { path, grammar: source.grammar!, size: stamp?.size ?? 0 }
}

function isBelow(path: string, folder: string): boolean {
  return folder === "." || path === folder || path.startsWith(`${folder}/`)
}

function stampAt(path: string): FileStamp | undefined {
  try {
    const facts = lstatSync(path, { throwIfNoEntry: false })
    return facts?.isFile() === true ? stampOf(facts) : undefined
  } catch {
    return undefined
  }
}
