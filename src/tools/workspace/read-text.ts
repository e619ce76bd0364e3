import type { FileFacts, Files } from "../../platform/files/file-access.ts"
import { decode, type DecodedFile } from "../../platform/text/decode.ts"
import { checkExtension, fileTooLargeFailure, withSuggestions, type Workspace } from "./workspace.ts"

/** A whole text file, as bytes and as text. */
export interface TextFile {
  readonly bytes: Buffer
  readonly facts: FileFacts
  readonly decoded: DecodedFile
}

export async function readText(path: string, files: Files, workspace: Workspace): Promise<TextFile> {
  checkExtension(path, workspace)
  const { bytes, facts } = readWhole(path, files, workspace)
  return { bytes, facts, decoded: await decode(bytes, facts.path) }
}

function readWhole(path: string, files: Files, { maxFileSize }: Workspace): { bytes: Buffer; facts: FileFacts } {
  try {
    const found = files.readSmall(path, maxFileSize)
    if (found !== undefined) return found
    throw fileTooLargeFailure(path, files.facts(path).size, maxFileSize, "Change it with a command instead.")
  } catch (error) {
    throw withSuggestions(error, path, files)
  }
}
