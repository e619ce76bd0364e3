import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import { ToolFailure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import { fenceFor, type Workspace } from "./options.ts"

/** So many files and folders are counted at most. */
const most = 200_000

/** Counts what is in the workspace. Links are not followed, and what no tool may see is not counted. */
export const getWorkspaceInfo = (workspace: Workspace) =>
  defineTool({
    name: "get_workspace_info",
    group: "workspace",
    category: "file",
    description: "Tell where the workspace is, how many files and folders it has, their size, and the last change.",
    effect: "read",
    input: z.object({}),
    output: z.object({
      fileCount: z.number(),
      dirCount: z.number(),
      totalSize: z.number().describe("Bytes"),
      lastModified: z.number().nullable().describe("Milliseconds; null when there is no file"),
      path: z.string(),
      truncated: z.boolean().describe(`Whether it stopped at ${most}`),
    }),
    idempotent: true,
    touches: () => [{ kind: "read", what: "." }],

    async execute(_input, context) {
      const { signal } = context
      const files = fenceFor(workspace, context)
      const counted = { fileCount: 0, dirCount: 0, totalSize: 0, lastModified: null as number | null }
      const waiting = ["."]
      for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
        signal.throwIfAborted()
        if (counted.fileCount + counted.dirCount > most) break
        for (const { name, kind } of await listed(files, folder)) {
          const path = folder === "." ? name : `${folder}/${name}`
          if (kind === "folder") {
            counted.dirCount++
            waiting.push(path)
          }
          if (kind === "file") countFile(files, path, counted)
        }
      }
      return { ...counted, path: files.workspace, truncated: waiting.length > 0 }
    },
  })

function countFile(
  files: Files,
  path: string,
  counted: { fileCount: number; totalSize: number; lastModified: number | null },
) {
  const facts = ifSeen(() => files.facts(path))
  if (facts === undefined) return
  counted.fileCount++
  counted.totalSize += facts.size
  counted.lastModified = Math.max(counted.lastModified ?? 0, Math.floor(facts.modifiedAt))
}

/** What is sealed, or went away meanwhile, is not there. */
async function listed(files: Files, folder: string) {
  try {
    return await files.list(folder)
  } catch (error) {
    if (error instanceof ToolFailure && folder !== ".") return []
    throw error
  }
}

function ifSeen<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}
