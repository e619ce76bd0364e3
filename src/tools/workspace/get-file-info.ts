import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { factsIfExists, filesFor, type Workspace } from "./workspace.ts"

/** The facts of a file without reading it. A missing file is a result, not a failure. */
export const getFileInfo = (workspace: Workspace) =>
  defineTool({
    name: "get_file_info",
    group: "workspace",
    category: "file",
    description: "Tell whether a file or folder exists, and its size, kind and times in milliseconds.",
    effect: "read",
    input: () => z.object({ path: z.string().min(1).describe("The file or folder, relative to the workspace") }),
    output: () =>
      z.object({
        exists: z.boolean(),
        size: z.number().describe("Bytes"),
        modified: z.number(),
        path: z.string(),
        type: z.enum(["file", "directory", "link", "special"]).optional(),
        created: z.number().optional(),
        accessed: z.number().optional(),
        mode: z.string().optional().describe("The permission bits, for example 644"),
      }),
    idempotent: true,
    touches: ({ path }) => [{ kind: "read", what: path }],

    execute({ path }, context) {
      const files = filesFor(workspace, context)
      const facts = factsIfExists(files, path)
      if (facts === undefined) return { exists: false, size: 0, modified: 0, path: files.normalize(path) }
      return {
        exists: true,
        size: facts.size,
        modified: Math.floor(facts.modifiedAt),
        path: facts.path,
        type: facts.kind === "folder" ? "directory" : facts.kind,
        created: Math.floor(facts.createdAt),
        accessed: Math.floor(facts.accessedAt),
        mode: facts.mode.toString(8).padStart(3, "0"),
      }
    },
  })
