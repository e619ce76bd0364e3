import { failure } from "../../core/ending.ts"
import type { FileFacts, Files } from "../../platform/files/file-access.ts"
import { toolRef, dialectText } from "../../core/dialect-text.ts"
import { displayText, type DecodedFile } from "../../platform/text/decode.ts"
import { unifiedDiff, type UnifiedDiff } from "./diff.ts"
import { applyRegions, planEdits, type Edit, type Region } from "./edits.ts"
import { encode, encodeLike, byteOffsets } from "../../platform/text/encode.ts"
import type { Encoding } from "../../platform/text/encoding-names.ts"
import { oldTextName } from "./nearest-place.ts"
import { factsIfExists, checkExtension, fileTooLargeFailure, type Workspace } from "./workspace.ts"
import { readText } from "./read-text.ts"

/** The result of an edit before it is written. */
export interface EditPlan {
  /** Undefined for a new file. */
  readonly facts: FileFacts | undefined
  readonly path: string
  readonly bytes: Buffer
  readonly encoding: Encoding
  readonly replacements: number
  readonly diff: UnifiedDiff
}

export async function planEdit(
  path: string,
  edits: readonly Edit[],
  files: Files,
  workspace: Workspace,
): Promise<EditPlan> {
  checkExtension(path, workspace)
  const [first] = edits
  if (edits.some(({ oldText, startLine }) => oldText === "" && startLine === undefined)) {
    if (edits.length === 1 && first !== undefined) return planNew(path, first.newText, files, workspace)
    throw failure(
      dialectText`An empty ${oldTextName} creates a new file and cannot be combined with other edits. Say what to replace.`,
      {
        toolCode: "no_match",
      },
    )
  }
  const { bytes, facts, decoded } = await readText(path, files, workspace)
  const { changed, regions, text } = await changeBytes(bytes, decoded, edits, facts.path)
  refuseSize(changed, facts.path, workspace)
  const after = { ...decoded, text }
  return {
    facts,
    path: facts.path,
    bytes: changed,
    encoding: decoded.encoding,
    replacements: regions.length,
    diff: await unifiedDiff(facts.path, displayText(decoded), displayText(after), regions),
  }
}

/** The bytes of a file with the edits applied. All bytes outside the replaced text stay the same. */
export async function changeBytes(bytes: Buffer, decoded: DecodedFile, edits: readonly Edit[], path: string) {
  const regions = await planEdits(decoded.text, edits, path)
  const text = applyRegions(decoded.text, regions)
  const changed = (await isExact(bytes, decoded)) ? encodeLike(text, decoded) : splice(bytes, decoded, regions)
  return { regions, text, changed: await changed }
}

/**
 * Reports whether encoding the text gives these bytes. Then the new text is encoded as a whole, which is faster for
 * many regions.
 */
async function isExact(bytes: Buffer, decoded: DecodedFile): Promise<boolean> {
  if (decoded.invalidBytes > 0 || !decoded.text.isWellFormed()) return false
  if (decoded.encoding === "utf-8") return true
  return encodeLike(decoded.text, decoded).then(
    (encoded) => encoded.equals(bytes),
    () => false,
  )
}

async function splice(bytes: Buffer, decoded: DecodedFile, regions: readonly Region[]): Promise<Buffer> {
  const places = await byteOffsets(
    bytes,
    decoded,
    regions.flatMap(({ start, end }) => [start, end]),
  )
  const parts: Buffer[] = []
  let at = 0
  for (const [index, { text }] of regions.entries()) {
    parts.push(bytes.subarray(at, places[2 * index]), await encode(text, decoded.encoding))
    at = places[2 * index + 1]!
  }
  return Buffer.concat([...parts, bytes.subarray(at)])
}

async function planNew(path: string, text: string, files: Files, workspace: Workspace): Promise<EditPlan> {
  if (factsIfExists(files, path) !== undefined) {
    throw failure(
      dialectText`${path} exists already, and an empty ${oldTextName} only creates new files. Say which text to replace, or use ${toolRef("write_file")}.`,
      {
        toolCode: "exists",
      },
    )
  }
  const bytes = await encode(text, "utf-8")
  refuseSize(bytes, path, workspace)
  const named = files.normalize(path)
  return {
    facts: undefined,
    path: named,
    bytes,
    encoding: "utf-8",
    replacements: 1,
    diff: await unifiedDiff(named, undefined, text),
  }
}

function refuseSize({ length }: Buffer, path: string, { maxFileSize }: Workspace): void {
  if (length > maxFileSize) throw fileTooLargeFailure(path, length, maxFileSize, "Write less, or several files.")
}
