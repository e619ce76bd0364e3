import { failure, ToolFailure } from "../../model/ending.ts"
import type { Refusal } from "../../policy/paths-refusals.ts"

/** The codes of what the fence refuses; see `Files`. */
export type FenceCode =
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

export function refused(code: FenceCode, sentence: string, cause?: unknown): ToolFailure {
  return failure(sentence, cause === undefined ? { toolCode: code } : { toolCode: code, cause })
}

export function refusedBy({ code, sentence }: Refusal): ToolFailure {
  return refused(code, sentence)
}

/** What the system said, in a sentence about the path as the caller wrote it. Only what is expected; a bug stays a bug. */
export function translated(error: unknown, path: string): unknown {
  if (error instanceof ToolFailure) return error
  const { code } = error as NodeJS.ErrnoException
  const known = code === undefined ? undefined : sayings[code]
  if (known !== undefined) return refused(known[0], known[1](path), error)
  if (code === "EMFILE" || code === "ENFILE")
    return failure("Too many files are open at once. Try again a little later.", { transient: true, cause: error })
  return code === undefined ? error : failure(`'${path}' could not be used: ${code}.`, { cause: error })
}

const missing = (path: string) => `There is no '${path}'. List its folder to see what there is.`
const forbidden = (path: string) => `The rights of '${path}', or of its folder, do not let Quartermaster do that. Ask a person to change them.` // prettier-ignore
const full = (path: string) => `There is no space left where '${path}' is. Nothing was changed; ask a person to make room.` // prettier-ignore
const readOnly = (path: string) => `'${path}' is on a disk that can only be read. Choose another place.`
const circle = (path: string) => `The links at '${path}' go in circles or changed meanwhile. Use the path of the file itself.` // prettier-ignore
const pathTooLong = (path: string) =>
  `'${path.slice(0, 80)}…' is longer than this disk can name. Choose a shorter name.`
const notFolder = (path: string) => `Something on the way to '${path}' is no folder. Look at the path again.`
const folder = (path: string) => `'${path}' is a folder. Name a file.`
const special = (path: string) => `'${path}' is no file with a content of its own, so it is not opened.`

const sayings: Readonly<Record<string, readonly [FenceCode, (path: string) => string]>> = {
  ENOENT: ["file_not_found", missing],
  ENOTDIR: ["not_a_folder", notFolder],
  EISDIR: ["is_folder", folder],
  EACCES: ["unreadable", forbidden],
  EPERM: ["unreadable", forbidden],
  EROFS: ["unreadable", readOnly],
  ELOOP: ["bad_path", circle],
  ENAMETOOLONG: ["bad_path", pathTooLong],
  EINVAL: ["bad_path", (path) => `'${path}' cannot be used so. Look at the path again.`],
  ENXIO: ["special_file", special],
  ENODEV: ["special_file", special],
  ENOSPC: ["no_space", full],
  EDQUOT: ["no_space", full],
  EFBIG: ["too_large", (path) => `'${path}' would be larger than this disk can hold.`],
}

export function specialFile(path: string): ToolFailure {
  return refused("special_file", special(path))
}

export function isFolder(path: string): ToolFailure {
  return refused("is_folder", folder(path))
}

export function notFound(path: string): ToolFailure {
  return refused("file_not_found", missing(path))
}

export function isThere(path: string): ToolFailure {
  return refused("exists", `'${path}' exists already. Choose another name, or say that it is to be overwritten.`)
}

export function tooLarge(path: string, size: number, limit: number): ToolFailure {
  return refused("too_large", `'${path}' has ${size} bytes, and at most ${limit} are read at once. Read a part of it.`)
}
