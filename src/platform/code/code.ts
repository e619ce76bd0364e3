import { missingPackages } from "../../lib/missing-packages.ts"

/** The types to search for. *class* means every type, *variable* also fields and constants. */
export const codeTypes = ["function", "class", "variable", "file", "all"] as const
export type CodeType = (typeof codeTypes)[number]

/** The kind of a declaration. *text* is a match of a text search. */
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
  /** Default: *glob* when the query has a `*` or `?`, else *contains*. */
  readonly match?: "exact" | "contains" | "glob"
  /** A folder or file: relative to the workspace, or absolute when it is in another file root. */
  readonly path?: string
  readonly language?: string
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
  /** The enclosing declaration, for example `Server.start`. */
  readonly container?: string
  readonly language: string
  /** The method: *syntax* by the syntax tree, *search* by text search (there is no tree), *name* by file name. */
  readonly method: "syntax" | "search" | "name"
  /** The line of the declaration. */
  readonly code: string
  /** The same line with the lines around it. */
  readonly context: string
}

export interface CodeSearchResult {
  /** Best matches first: whole names, then beginnings, then the others; within each by path and line. */
  readonly matches: readonly CodeMatch[]
  readonly total: number
  /** The number of files searched. */
  readonly files: number
  /** The number of those without a syntax tree, so that only their text was searched. */
  readonly searched: number
  /** Files that are still being indexed. A later call finds what is in them. */
  readonly pending: number
}

export interface CodeFindOptions {
  /** Reports whether this call may see a file. Default: all in the file roots. */
  readonly allows?: (path: string) => boolean
  readonly signal?: AbortSignal
}

/** An index of the declarations in the workspace, kept by a worker thread. It reads only files inside the file roots. */
export interface CodeIndex {
  find(search: CodeSearch, options?: CodeFindOptions): Promise<CodeSearchResult>
  close(): Promise<void>
}

/** Describes how to add the grammars where they are not installed; undefined if they are. */
export function missingGrammars(): string | undefined {
  return missingPackages("Finding declarations in code", ["@vscode/tree-sitter-wasm"])
}
