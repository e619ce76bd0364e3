import { extname } from "node:path"
import { failure, ToolFailure } from "../../core/ending.ts"
import type { FileFacts, Files } from "../../platform/files/file-access.ts"
import { toolRef, dialectText, type DialectText } from "../../core/dialect-text.ts"
import type { ToolContext } from "../../core/tool.ts"
import type { ReadMarks } from "./read-marks.ts"
import type { PathLocks } from "./path-locks.ts"

/** The parts that the workspace tools share. */
export interface Workspace {
  readonly files: Files
  /** The largest file to read, edit or write as a whole, in bytes. */
  readonly maxFileSize: number
  /** With their dot, in lower case; empty means every kind of file. */
  readonly allowedExtensions: readonly string[]
  /** The number of backups to keep of each file. */
  readonly backups: number
  readonly readMarks: ReadMarks
  readonly locks: PathLocks
}

/** The files that one call may use. */
export function filesFor(
  { files }: Workspace,
  { allowedPaths, mayRead }: Pick<ToolContext, "allowedPaths" | "mayRead">,
): Files {
  return allowedPaths === undefined && mayRead === undefined ? files : files.within(allowedPaths, mayRead)
}

/** Refuses a file whose extension the configuration does not allow. */
export function checkExtension(path: string, workspace: Workspace): void {
  if (isExtensionAllowed(path, workspace)) return
  const extension = extname(path).toLowerCase()
  const { allowedExtensions } = workspace
  throw failure(
    `Files ${extension === "" ? "without an extension" : `with the extension ${extension}`} may not be used here (${path}). Allowed are: ${allowedExtensions.join(", ")} (tools.allowedExtensions).`,
    { toolCode: "extension_denied" },
  )
}

export function isExtensionAllowed(path: string, { allowedExtensions }: Workspace): boolean {
  return allowedExtensions.length === 0 || allowedExtensions.includes(extname(path).toLowerCase())
}

/** Adds similar names to a `file_not_found` failure. */
export function withSuggestions(error: unknown, path: string, files: Files): unknown {
  if (!(error instanceof ToolFailure) || error.toolCode !== "file_not_found") return error
  const similar = files.similarNames(path)
  const hint =
    similar.length === 0
      ? dialectText`Call ${toolRef("list_files")} or ${toolRef("find_files")} to see what is there.`
      : `Did you mean ${orList(similar)}?`
  return failure(dialectText`File not found: ${path}. ${hint}`, { toolCode: "file_not_found", cause: error })
}

/** The facts of a path; undefined if nothing is there. */
export function factsIfExists(files: Files, path: string): FileFacts | undefined {
  try {
    return files.facts(path)
  } catch (error) {
    if (error instanceof ToolFailure && error.toolCode === "file_not_found") return undefined
    throw error
  }
}

export function fileTooLargeFailure(path: string, size: number, limit: number, instead: string | DialectText): Error {
  return failure(dialectText`File size (${size}) exceeds limit (${limit}) of tools.maxFileSize: ${path}. ${instead}`, {
    toolCode: "too_large",
  })
}

export function staleFileFailure(path: string): Error {
  return failure(`${path} has changed since you last read it. Read it again, then repeat the change.`, {
    toolCode: "file_changed",
  })
}

function orList(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`
}
