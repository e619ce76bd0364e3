import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import { ToolFailure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import { fenceFor, refuseExtension, withNearNames, type Workspace } from "./options.ts"

/** Moves or renames inside the fence, which checks both ends. Nothing is overwritten unless that is said. */
export const moveFile = (workspace: Workspace) =>
  defineTool({
    name: "move_file",
    group: "workspace",
    category: "file",
    description:
      "Move or rename a file or folder. Missing folders of the new place are made. What is there already is not overwritten unless overwrite is true.",
    effect: "write",
    input: z.object({
      from: z.string().min(1).describe("What to move, for example notes/old.md"),
      to: z.string().min(1).describe("Where to, with its new name, for example notes/new.md"),
      overwrite: z.boolean().default(false).describe("Replace a file that is there; an earlier version of it is kept"),
    }),
    output: z.object({ success: z.boolean(), from: z.string(), to: z.string() }),
    touches: ({ from, to }) => [
      { kind: "write", what: from },
      { kind: "write", what: to },
    ],

    async execute({ from, to, overwrite }, context) {
      const files = fenceFor(workspace, context)
      const start = files.normal(from)
      if (!isFolder(files, from)) for (const path of [from, to]) refuseExtension(path, workspace)
      const { path } = await files.move(from, to, { overwrite }).catch((error: unknown) => {
        throw withNearNames(error, from, files)
      })
      return { success: true, from: start, to: path }
    },
  })

/** A link is moved itself, also one that leads nowhere. */
function isFolder(files: Files, path: string): boolean {
  try {
    return files.facts(path).kind === "folder"
  } catch (error) {
    if (error instanceof ToolFailure) return false
    throw error
  }
}
