import type { FileDiff } from "../../core/preview.ts"
import type { Touch } from "../../core/touches.ts"
import { resolve } from "node:path"

interface FilePatch {
  path: string
  movedTo?: string
  lines: string[]
}

const headers = ["*** Add File: ", "*** Update File: ", "*** Delete File: "]
const move = "*** Move to: "
const marks = ["*** Begin Patch", "*** End Patch", "*** End of File"]

/**
 * Reads the files of a patch as Codex writes it. Throws for a line that begins like a header and is none that is known:
 * then it is not certain which files the patch changes. A header with spaces before it counts too.
 */
export function readPatch(patch: string): FilePatch[] {
  const files: FilePatch[] = []
  for (const line of patch.split(/\r?\n/)) {
    const text = line.trim()
    const header = headers.find((each) => text.startsWith(each))
    const last = files.at(-1)
    if (header !== undefined) files.push({ path: text.slice(header.length), lines: [] })
    else if (text.startsWith(move) && last !== undefined) last.movedTo = text.slice(move.length)
    else if (marks.includes(text)) continue
    else if (line.startsWith("***")) throw new Error(`A patch has no line '${text}'.`)
    else last?.lines.push(line)
  }
  if (files.length === 0) throw new Error("A patch names the files it changes.")
  return files
}

/** Every file that the patch writes, moves or deletes. */
export function patchTouches(patch: string, cwd = "."): Touch[] {
  return readPatch(patch).flatMap(({ path, movedTo }) =>
    [path, movedTo].flatMap((each): Touch[] =>
      each === undefined ? [] : [{ kind: "write", what: cwd === "." ? each : resolve(cwd, each) }],
    ),
  )
}

export function patchDiffs(patch: string): FileDiff[] {
  return readPatch(patch).map(({ path, movedTo = path, lines }) => ({
    path,
    diff: [`--- ${path}`, `+++ ${movedTo}`, ...lines, ""].join("\n"),
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  }))
}
