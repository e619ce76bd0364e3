import { extname } from "node:path"
import { failure, ToolFailure } from "../../model/ending.ts"
import type { FileFacts, Files } from "../../model/files.ts"
import type { ToolContext } from "../../model/tool.ts"
import type { ReadMarks } from "./read-marks.ts"
import type { Turns } from "./turns.ts"

/** What the tools of the workspace share. */
export interface Workspace {
  readonly files: Files
  /** The largest file that is read, edited or written as a whole, in bytes. */
  readonly maxFileSize: number
  /** With their dot, in small letters; empty means every kind of file. */
  readonly allowedExtensions: readonly string[]
  /** How many earlier versions of a file are kept. */
  readonly backups: number
  readonly marks: ReadMarks
  readonly turns: Turns
}

/** The fence as it stands for one call. */
export function fenceFor(
  { files }: Workspace,
  { allowedPaths, mayRead }: Pick<ToolContext, "allowedPaths" | "mayRead">,
): Files {
  return allowedPaths === undefined && mayRead === undefined ? files : files.within(allowedPaths, mayRead)
}

/** Refuses a file of a kind that the configuration does not name. */
export function refuseExtension(path: string, workspace: Workspace): void {
  if (isKindAllowed(path, workspace)) return
  const extension = extname(path).toLowerCase()
  const { allowedExtensions } = workspace
  throw failure(
    `Files of the kind ${extension === "" ? "without an extension" : extension} may not be used here (${path}). Allowed are: ${allowedExtensions.join(", ")} (tools.allowedExtensions).`,
    { toolCode: "extension_denied" },
  )
}

export function isKindAllowed(path: string, { allowedExtensions }: Workspace): boolean {
  return allowedExtensions.length === 0 || allowedExtensions.includes(extname(path).toLowerCase())
}

/** What the fence finds missing is told with the names that are near it. */
export function withNearNames(error: unknown, path: string, files: Files): unknown {
  if (!(error instanceof ToolFailure) || error.toolCode !== "file_not_found") return error
  const near = files.near(path)
  const guess =
    near.length === 0 ? "Call list_files or find_files to see what is there." : `Did you mean ${either(near)}?`
  return failure(`File not found: ${path}. ${guess}`, { toolCode: "file_not_found", cause: error })
}

/** What is at a path; undefined when nothing is. */
export function factsIfThere(files: Files, path: string): FileFacts | undefined {
  try {
    return files.facts(path)
  } catch (error) {
    if (error instanceof ToolFailure && error.toolCode === "file_not_found") return undefined
    throw error
  }
}

export function tooLarge(path: string, size: number, most: number, instead: string): Error {
  return failure(`File size (${size}) exceeds limit (${most}) of tools.maxFileSize: ${path}. ${instead}`, {
    toolCode: "too_large",
  })
}

export function stale(path: string): Error {
  return failure(`${path} has changed since you last read it. Read it again, then make the change anew.`, {
    toolCode: "file_changed",
  })
}

function either(names: readonly string[]): string {
  return names.length === 1 ? names[0]! : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`
}
