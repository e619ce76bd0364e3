import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { ToolFailure } from "../../core/ending.ts"
import type { Files } from "../../platform/files/file-access.ts"
import { filesFor, type Workspace } from "./workspace.ts"

/** The most files and folders to count. */
const maxEntries = 200_000

/** Counts the files in the workspace. Does not follow links or count what tools may not see. */
export const getWorkspaceInfo = (workspace: Workspace) =>
  defineTool({
    name: "get_workspace_info",
    group: "workspace",
    category: "file",
    description: "Tell where the workspace is, how many files and folders it has, their size, and the last change.",
    effect: "read",
    input: () => z.object({}),
    output: () =>
      z.object({
        fileCount: z.number(),
        dirCount: z.number(),
        totalSize: z.number().describe("Bytes"),
        lastModified: z.number().nullable().describe("Milliseconds; null when there is no file"),
        path: z.string(),
        truncated: z.boolean().describe(`Whether it stopped at ${maxEntries}`),
      }),
    idempotent: true,
    touches: () => [{ kind: "read", what: "." }],

    async execute(_input, context) {
      const { signal } = context
      const files = filesFor(workspace, context)
      const counted = { fileCount: 0, dirCount: 0, totalSize: 0, lastModified: null as number | null }
      const pending = ["."]
      for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
        signal.throwIfAborted()
        if (counted.fileCount + counted.dirCount > maxEntries) break
        for (const { name, kind } of await listed(files, folder)) {
          const path = folder === "." ? name : `${folder}/${name}`
          if (kind === "folder") {
            counted.dirCount++
            pending.push(path)
          }
          if (kind === "file") countFile(files, path, counted)
        }
      }
      return { ...counted, path: files.workspace, truncated: pending.length > 0 }
    },
  })

function countFile(
  files: Files,
  path: string,
  counted: { fileCount: number; totalSize: number; lastModified: number | null },
) {
  const facts = ifAllowed(() => files.facts(path))
  if (facts === undefined) return
  counted.fileCount++
  counted.totalSize += facts.size
  counted.lastModified = Math.max(counted.lastModified ?? 0, Math.floor(facts.modifiedAt))
}

/** A protected folder, or one that was removed meanwhile, counts as empty. */
async function listed(files: Files, folder: string) {
  try {
    return await files.list(folder)
  } catch (error) {
    if (error instanceof ToolFailure && folder !== ".") return []
    throw error
  }
}

function ifAllowed<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}
