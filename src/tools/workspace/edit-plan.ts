import { failure } from "../../model/ending.ts"
import type { FileFacts, Files } from "../../model/files.ts"
import { shown, type Decoded } from "./decode.ts"
import { unifiedDiff, type UnifiedDiff } from "./diff.ts"
import { applyRegions, planEdits, type Edit, type Region } from "./edits.ts"
import { encode, placesInBytes } from "./encode.ts"
import type { Encoding } from "./encoding-names.ts"
import { factsIfThere, refuseExtension, tooLarge, type Workspace } from "./options.ts"
import { readText } from "./whole-text.ts"

/** What an edit would make of a file. Nothing is changed yet. */
export interface EditPlan {
  /** Undefined for a file that is to be made. */
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
  refuseExtension(path, workspace)
  const [first] = edits
  if (edits.some(({ oldText, startLine }) => oldText === "" && startLine === undefined)) {
    if (edits.length === 1 && first !== undefined) return planNew(path, first.newText, files, workspace)
    throw failure(
      "An empty oldText makes a new file and cannot stand beside other edits. Say what is to be replaced.",
      {
        toolCode: "no_match",
      },
    )
  }
  const { bytes, facts, decoded } = await readText(path, files, workspace)
  const { changed, regions } = await changeBytes(bytes, decoded, edits, facts.path)
  refuseSize(changed, facts.path, workspace)
  const after = { ...decoded, text: applyRegions(decoded.text, regions) }
  return {
    facts,
    path: facts.path,
    bytes: changed,
    encoding: decoded.encoding,
    replacements: regions.length,
    diff: await unifiedDiff(facts.path, shown(decoded), shown(after)),
  }
}

/** The bytes of a file with the edits made. Only those of the replaced text are others. */
export async function changeBytes(bytes: Buffer, decoded: Decoded, edits: readonly Edit[], path: string) {
  const regions = await planEdits(decoded.text, edits, path)
  return { regions, changed: await splice(bytes, decoded, regions) }
}

async function splice(bytes: Buffer, decoded: Decoded, regions: readonly Region[]): Promise<Buffer> {
  const places = await placesInBytes(
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
  if (factsIfThere(files, path) !== undefined) {
    throw failure(
      `${path} is there already, and an empty oldText only makes new files. Say which text is to be replaced, or use write_file.`,
      {
        toolCode: "exists",
      },
    )
  }
  const bytes = await encode(text, "utf-8")
  refuseSize(bytes, path, workspace)
  const named = files.normal(path)
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
  if (length > maxFileSize) throw tooLarge(path, length, maxFileSize, "Write less, or several files.")
}
