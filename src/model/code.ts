/** What can be asked for. *class* stands for everything that is a type, *variable* also for fields and constants. */
export const codeTypes = ["function", "class", "variable", "file", "all"] as const
export type CodeType = (typeof codeTypes)[number]

/** What a declaration is. *text* is a place that a plain search found. */
export const codeKinds = [
  "function",
  "method",
  "macro",
  "class",
  "interface",
  "struct",
  "enum",
  "union",
  "trait",
  "type",
  "module",
  "variable",
  "constant",
  "field",
  "file",
  "text",
] as const
export type CodeKind = (typeof codeKinds)[number]

export interface CodeSearch {
  readonly query: string
  readonly type: CodeType
  /** *glob* when the query has a `*` or `?`, else *contains*, where left out. */
  readonly match?: "exact" | "contains" | "glob" | undefined
  /** A folder or file, in the normal form of the fence: from the workspace, or absolute for what is in another root. */
  readonly path?: string | undefined
  readonly language?: string | undefined
  readonly limit: number
  /** Lines to show before and after each declaration. */
  readonly contextLines: number
}

export interface CodeMatch {
  readonly path: string
  /** Both from 1; the column counts UTF-16 units. */
  readonly line: number
  readonly column: number
  readonly kind: CodeKind
  readonly name: string
  /** What it is declared in: `Server.start`. */
  readonly container?: string | undefined
  readonly language: string
  /** *syntax*: the syntax tree says so. *search*: the text was searched, because there is no tree. *name*: of a file. */
  readonly method: "syntax" | "search" | "name"
  /** Its line. */
  readonly code: string
  /** Its line with those around it. */
  readonly context: string
}

export interface CodeFound {
  /** The best fits first: whole names, then beginnings, then the rest, each in the order of their places. */
  readonly matches: readonly CodeMatch[]
  readonly total: number
  /** How many files were asked. */
  readonly files: number
  /** Of those: how many have no syntax tree and were searched plainly. */
  readonly searched: number
  /** Files that could not be asked in time; they are being read, a later call knows them. */
  readonly pending: number
}

export interface CodeFindOptions {
  /** Which files this call may know of; all that the fence shows, where left out. */
  readonly allows?: ((path: string) => boolean) | undefined
  readonly signal?: AbortSignal | undefined
}

/** The declarations of the workspace, kept warm off the main thread. Files that the fence does not show are never read. */
export interface CodeIndex {
  find(search: CodeSearch, options?: CodeFindOptions): Promise<CodeFound>
  close(): Promise<void>
}
