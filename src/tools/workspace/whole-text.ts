import type { FileFacts, Files } from "../../model/files.ts"
import { decode, type Decoded } from "./decode.ts"
import { refuseExtension, tooLarge, withNearNames, type Workspace } from "./options.ts"

/** A whole file as its bytes and its text, if it is no larger than may be and a text at all. */
export interface WholeText {
  readonly bytes: Buffer
  readonly facts: FileFacts
  readonly decoded: Decoded
}

export async function readText(path: string, files: Files, workspace: Workspace): Promise<WholeText> {
  refuseExtension(path, workspace)
  const { bytes, facts } = readWhole(path, files, workspace)
  return { bytes, facts, decoded: await decode(bytes, facts.path) }
}

function readWhole(path: string, files: Files, { maxFileSize }: Workspace): { bytes: Buffer; facts: FileFacts } {
  try {
    const found = files.readSmall(path, maxFileSize)
    if (found !== undefined) return found
    throw tooLarge(path, files.facts(path).size, maxFileSize, "Change it with a command instead.")
  } catch (error) {
    throw withNearNames(error, path, files)
  }
}
