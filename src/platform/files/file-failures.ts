import { failure, ToolFailure } from "../../core/ending.ts"
import type { PathRefusal } from "../../guards/paths/path-refusals.ts"

/** The codes of failed file operations; see `Files`. */
export type FileFailureCode =
  | "outside"
  | "sealed"
  | "file_not_found"
  | "is_folder"
  | "not_a_folder"
  | "special_file"
  | "unreadable"
  | "too_large"
  | "linked"
  | "file_changed"
  | "exists"
  | "bad_path"
  | "no_space"

export function fileFailure(code: FileFailureCode, sentence: string, cause?: unknown): ToolFailure {
  return failure(sentence, cause === undefined ? { toolCode: code } : { toolCode: code, cause })
}

export function failureOfRefusal({ code, sentence }: PathRefusal): ToolFailure {
  return fileFailure(code, sentence)
}

/** Turns an expected system error into a sentence about the path as the caller wrote it. Other errors are returned as they are. */
export function translateSystemError(error: unknown, path: string): unknown {
  if (error instanceof ToolFailure) return error
  const { code } = error as NodeJS.ErrnoException
  const known = code === undefined ? undefined : sentences[code]
  if (known !== undefined) return fileFailure(known[0], known[1](path), error)
  if (code === "EMFILE" || code === "ENFILE")
    return failure("Too many files are open at once. Try again a little later.", { transient: true, cause: error })
  return code === undefined ? error : failure(`'${path}' could not be used: ${code}.`, { cause: error })
}

const missing = (path: string) => `There is no '${path}'. List its folder to see what is there.`
const forbidden = (path: string) => `The permissions of '${path}' or its folder do not let Quartermaster do that. Ask a person to change them.` // prettier-ignore
const full = (path: string) => `There is no space left on the disk of '${path}'. Nothing was changed. Ask a person to free some space.` // prettier-ignore
const readOnly = (path: string) => `'${path}' is on a read-only disk. Choose another path.`
const circle = (path: string) => `The links at '${path}' form a loop or have just changed. Use the path of the file itself.` // prettier-ignore
const pathTooLong = (path: string) => `'${path.slice(0, 80)}…' is too long for this disk. Choose a shorter name.`
const notFolder = (path: string) => `Part of the path '${path}' is not a folder. Check the path.`
const folder = (path: string) => `'${path}' is a folder. Name a file.`
const special = (path: string) => `'${path}' is not a regular file, so it is not opened. Name a regular file.`

const sentences: Readonly<Record<string, readonly [FileFailureCode, (path: string) => string]>> = {
  ENOENT: ["file_not_found", missing],
  ENOTDIR: ["not_a_folder", notFolder],
  EISDIR: ["is_folder", folder],
  EACCES: ["unreadable", forbidden],
  EPERM: ["unreadable", forbidden],
  EROFS: ["unreadable", readOnly],
  ELOOP: ["bad_path", circle],
  ENAMETOOLONG: ["bad_path", pathTooLong],
  EINVAL: ["bad_path", (path) => `'${path}' cannot be used for this. Check the path.`],
  ENXIO: ["special_file", special],
  ENODEV: ["special_file", special],
  ENOSPC: ["no_space", full],
  EDQUOT: ["no_space", full],
  EFBIG: ["too_large", (path) => `'${path}' would be larger than this disk allows. Write less.`],
}

export function specialFileFailure(path: string): ToolFailure {
  return fileFailure("special_file", special(path))
}

export function isFolderFailure(path: string): ToolFailure {
  return fileFailure("is_folder", folder(path))
}

export function fileNotFoundFailure(path: string): ToolFailure {
  return fileFailure("file_not_found", missing(path))
}

export function fileExistsFailure(path: string): ToolFailure {
  return fileFailure("exists", `'${path}' exists already. Choose another name, or ask to overwrite it.`)
}

export function readLimitFailure(path: string, size: number, limit: number): ToolFailure {
  return fileFailure(
    "too_large",
    `'${path}' has ${size} bytes, and at most ${limit} are read at once. Read a part of it.`,
  )
}
