import { inside } from "./inside.ts"
import { longestFile, type Parsed, type ParseJob } from "./keeper.ts"
import type { Outliner } from "./outline.ts"

/** Reads and parses files in this thread. */
export async function parseHere(root: string, jobs: readonly ParseJob[], outlines: Outliner): Promise<Parsed[]> {
  const reader = inside(root)
  const parsed: Parsed[] = []
  for (const { path, grammar } of jobs) {
    const readAt = Date.now()
    const read = reader.read(path, longestFile)
    if (read === undefined) continue
    const outline = await outlines.outline(read.bytes.toString(), grammar).catch(() => undefined)
    parsed.push({ path, stamp: read.stamp, readAt, outline })
  }
  reader.close()
  return parsed
}
