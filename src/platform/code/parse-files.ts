import { openFolderReader } from "./folder-reader.ts"
import { maxParsedLength, type ParsedFile, type ParseJob } from "./folder-index.ts"
import type { Outliner } from "./outline.ts"

/** Reads and parses files in this thread. */
export async function parseFiles(root: string, jobs: readonly ParseJob[], outlines: Outliner): Promise<ParsedFile[]> {
  const reader = openFolderReader(root)
  const parsed: ParsedFile[] = []
  for (const { path, grammar } of jobs) {
    const readAt = Date.now()
    const read = reader.read(path, maxParsedLength)
    if (read === undefined) continue
    const outline = await outlines.outline(read.bytes.toString(), grammar).catch(() => undefined)
    parsed.push({ path, stamp: read.stamp, readAt, outline })
  }
  reader.close()
  return parsed
}
