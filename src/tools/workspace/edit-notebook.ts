import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { Files } from "../../platform/files/file-access.ts"
import { displayText } from "../../platform/text/decode.ts"
import { diffPreview, unifiedDiff } from "./diff.ts"
import { encodeLike } from "../../platform/text/encode.ts"
import { changeNotebook, type NotebookChange } from "./change-notebook.ts"
import { parseNotebook } from "../../platform/text/notebook.ts"
import { filesFor, staleFileFailure, fileTooLargeFailure, type Workspace } from "./workspace.ts"
import { readText } from "./read-text.ts"

/** Changes one cell of a Jupyter notebook and leaves the rest of the file as it is. */
export const editNotebook = (workspace: Workspace) =>
  defineTool({
    name: "edit_notebook",
    group: "workspace",
    category: "data",
    description:
      "Change a Jupyter notebook: replace the source of a cell (its outputs are cleared), insert a cell behind the named one (at the beginning when none is named), or delete a cell.",
    effect: "write",
    permission: { dangerous: true },
    input: () =>
      z
        .object({
          path: z.string().min(1).describe("The notebook, relative to the workspace"),
          mode: z.enum(["replace", "insert", "delete"]).default("replace").describe("What to do with the cell"),
          cellId: z.string().min(1).optional().describe("The cell by its id"),
          cellIndex: z.int().min(0).optional().describe("Or by its place, from 0"),
          source: z.string().optional().describe("The new source; not for delete"),
          cellType: z
            .enum(["code", "markdown", "raw"])
            .optional()
            .describe("Needed for insert; replace keeps the type without it"),
        })
        .superRefine((given, context) => {
          const addIssue = (name: string, message: string) =>
            context.addIssue({ code: "custom", path: [name], message })
          if (given.cellId !== undefined && given.cellIndex !== undefined)
            addIssue("cellIndex", "cannot be used together with cellId")
          if (given.mode !== "delete" && given.source === undefined) addIssue("source", "is missing")
          if (given.mode === "insert" && given.cellType === undefined)
            addIssue("cellType", "is missing; an insertion needs it")
          if (given.mode === "delete" && (given.source ?? given.cellType) !== undefined)
            addIssue("mode", "delete takes neither source nor cellType")
        }),
    output: () =>
      z.object({
        ok: z.boolean(),
        path: z.string(),
        mode: z.string(),
        index: z.number().describe("Where the cell stands now, or stood"),
        cellId: z.string().optional(),
        cellType: z.string(),
        oldSource: z.string().optional(),
        source: z.string().optional(),
        totalCells: z.number(),
        size: z.number(),
        backup: z.string().optional(),
      }),
    touches: ({ path }) => [
      { kind: "read", what: path, opens: true },
      { kind: "write", what: path, opens: true },
    ],
    async preview(input) {
      const { path, decoded, changed } = await planChange(input, workspace.files, workspace)
      const bytes = await encodeLike(changed.text, decoded)
      return diffPreview(path, await unifiedDiff(path, displayText(decoded), withStableId(changed)), bytes.length)
    },

    async execute(input, context) {
      const files = filesFor(workspace, context)
      return workspace.locks.run(files.normalize(input.path), async () => {
        const { path, facts, decoded, changed } = await planChange(input, files, workspace)
        if (workspace.readMarks.isStale(context.agent.id, facts)) throw staleFileFailure(path)
        const bytes = await encodeLike(changed.text, decoded)
        if (bytes.length > workspace.maxFileSize)
          throw fileTooLargeFailure(path, bytes.length, workspace.maxFileSize, "Write less.")
        context.signal.throwIfAborted()
        const { backup, facts: now } = await files.write(input.path, bytes, {
          expected: facts.version,
          backups: workspace.backups,
        })
        workspace.readMarks.markRead(context.agent.id, now)
        const { text: _text, ...summary } = changed
        const source = input.mode === "delete" ? undefined : input.source
        return { ok: true, path, mode: input.mode, ...summary, source, size: now.size, backup }
      })
    },
  })

interface Input {
  readonly path: string
  readonly mode: NotebookChange["mode"]
  readonly cellId?: string
  readonly cellIndex?: number
  readonly source?: string
  readonly cellType?: NotebookChange["cellType"]
}

async function planChange({ path, source = "", ...rest }: Input, files: Files, workspace: Workspace) {
  const { facts, decoded } = await readText(path, files, workspace)
  const notebook = parseNotebook(decoded.text, facts.path)
  const changed = changeNotebook(decoded.text, notebook, { source, ...rest }, facts.path)
  return { path: facts.path, facts, decoded, changed }
}

/** Replaces the random id of a new cell, so that an approver sees the same diff each time. */
function withStableId({ text, cellId, oldSource }: { text: string; cellId?: string; oldSource?: string }) {
  return cellId === undefined || oldSource !== undefined ? text : text.replace(`"${cellId}"`, '"(a new id)"')
}
