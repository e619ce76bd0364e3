import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { parseNotebook, showOutput, sourceOf, type NotebookCell } from "../../platform/text/notebook.ts"
import { filesFor, type Workspace } from "./workspace.ts"
import { readText } from "./read-text.ts"

/** Reads a Jupyter notebook cell by cell. */
export const readNotebook = (workspace: Workspace) =>
  defineTool({
    name: "read_notebook",
    group: "workspace",
    category: "data",
    description: "Read a Jupyter notebook (.ipynb): its cells with their ids, sources and outputs.",
    effect: "read",
    input: () =>
      z.object({
        path: z.string().min(1).describe("The notebook, relative to the workspace"),
        outputs: z
          .enum(["text", "all", "none"])
          .default("text")
          .describe("text shows what outputs say and names their images; all gives them as they are in the file"),
      }),
    output: () =>
      z.object({
        path: z.string(),
        cells: z.array(
          z.object({
            index: z.number().describe("From 0"),
            id: z.string().optional(),
            type: z.string(),
            source: z.string(),
            outputs: z.array(z.unknown()).optional(),
            executionCount: z.number().nullable().optional(),
          }),
        ),
        metadata: z.record(z.string(), z.unknown()),
        nbformat: z.number(),
        nbformatMinor: z.number().optional(),
      }),
    idempotent: true,
    touches: ({ path }) => [{ kind: "read", what: path, opens: true }],

    async execute({ path, outputs }, context) {
      const { facts, decoded } = await readText(path, filesFor(workspace, context), workspace)
      workspace.readMarks.markRead(context.agent.id, facts)
      const notebook = parseNotebook(decoded.text, facts.path)
      const { nbformat, nbformat_minor: minor, metadata = {} } = notebook
      return {
        path: facts.path,
        cells: notebook.cells.map((cell, index) => shownCell(cell, index, outputs)),
        metadata,
        nbformat,
        ...(minor === undefined ? {} : { nbformatMinor: minor }),
      }
    },
  })

function shownCell(cell: NotebookCell, index: number, wanted: "text" | "all" | "none") {
  const { id, cell_type: type, execution_count: executionCount } = cell
  const outputs =
    wanted === "none" ? undefined : cell.outputs?.map((output) => (wanted === "all" ? output : showOutput(output)))
  return {
    index,
    ...(id === undefined ? {} : { id }),
    type,
    source: sourceOf(cell),
    ...(outputs === undefined ? {} : { outputs }),
    ...(executionCount === undefined ? {} : { executionCount }),
  }
}
