import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { ToolFailure } from "../../core/ending.ts"
import type { Files } from "../../platform/files/file-access.ts"
import { filesFor, checkExtension, withSuggestions, type Workspace } from "./workspace.ts"

/** Moves or renames a file or folder. `files` checks both paths. Overwrites nothing unless asked to. */
export const moveFile = (workspace: Workspace) =>
  defineTool({
    name: "move_file",
    group: "workspace",
    category: "file",
    description:
      "Move or rename a file or folder. Missing folders of the new place are made. What is there already is not overwritten unless overwrite is true.",
    effect: "write",
    input: () =>
      z.object({
        from: z.string().min(1).describe("What to move, for example notes/old.md"),
        to: z.string().min(1).describe("Where to, with its new name, for example notes/new.md"),
        overwrite: z
          .boolean()
          .default(false)
          .describe("Replace a file that is there; an earlier version of it is kept"),
      }),
    output: () => z.object({ success: z.boolean(), from: z.string(), to: z.string() }),
    touches: ({ from, to }) => [
      { kind: "write", what: from },
      { kind: "write", what: to },
    ],

    async execute({ from, to, overwrite }, context) {
      const files = filesFor(workspace, context)
      const start = files.normalize(from)
      if (!isFolder(files, from)) for (const path of [from, to]) checkExtension(path, workspace)
      const { path } = await files.move(from, to, { overwrite }).catch((error: unknown) => {
        throw withSuggestions(error, from, files)
      })
      return { success: true, from: start, to: path }
    },
  })

/** False for a broken link, which can still be moved. */
function isFolder(files: Files, path: string): boolean {
  try {
    return files.facts(path).kind === "folder"
  } catch (error) {
    if (error instanceof ToolFailure) return false
    throw error
  }
}
