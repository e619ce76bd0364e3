import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { Files } from "../../model/files.ts"
import { shown } from "./decode.ts"
import { unifiedDiff } from "./diff.ts"
import { encodeLike } from "./encode.ts"
import { changeNotebook, type NotebookChange } from "./notebook-edit.ts"
import { parseNotebook } from "./notebook.ts"
import { fenceFor, stale, tooLarge, type Workspace } from "./options.ts"
import { readText } from "./whole-text.ts"

/** Changes one cell of a Jupyter notebook; the rest of the file stays as it is written. */
export const editNotebook = (workspace: Workspace) =>
  defineTool({
    name: "edit_notebook",
    group: "workspace",
    category: "data",
    description:
      "Change a Jupyter notebook: replace the source of a cell (its outputs are cleared), insert a cell behind the named one (at the beginning when none is named), or delete a cell.",
    effect: "write",
    permission: { dangerous: true },
    input: z
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
        const say = (name: string, message: string) => context.addIssue({ code: "custom", path: [name], message })
        if (given.cellId !== undefined && given.cellIndex !== undefined)
          say("cellIndex", "cannot stand together with cellId")
        if (given.mode !== "delete" && given.source === undefined) say("source", "is missing")
        if (given.mode === "insert" && given.cellType === undefined)
          say("cellType", "is missing; an insertion needs it")
        if (given.mode === "delete" && (given.source ?? given.cellType) !== undefined)
          say("mode", "delete takes neither source nor cellType")
      }),
    output: z.object({
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
      return (await unifiedDiff(path, shown(decoded), withSteadyId(changed))).text
    },

    async execute(input, context) {
      const files = fenceFor(workspace, context)
      return workspace.turns.take(files.normal(input.path), async () => {
        const { path, facts, decoded, changed } = await planChange(input, files, workspace)
        if (workspace.marks.isStale(context.agent.id, facts)) throw stale(path)
        const bytes = await encodeLike(changed.text, decoded)
        if (bytes.length > workspace.maxFileSize)
          throw tooLarge(path, bytes.length, workspace.maxFileSize, "Write less.")
        context.signal.throwIfAborted()
        const { backup, facts: now } = await files.write(input.path, bytes, {
          expected: facts.version,
          backups: workspace.backups,
        })
        workspace.marks.see(context.agent.id, now)
        const { text: _text, ...told } = changed
        const source = input.mode === "delete" ? undefined : input.source
        return { ok: true, path, mode: input.mode, ...told, source, size: now.size, backup }
      })
    },
  })

interface Given {
  readonly path: string
  readonly mode: NotebookChange["mode"]
  readonly cellId?: string | undefined
  readonly cellIndex?: number | undefined
  readonly source?: string | undefined
  readonly cellType?: NotebookChange["cellType"]
}

async function planChange({ path: given, source = "", ...rest }: Given, files: Files, workspace: Workspace) {
  const { facts, decoded } = await readText(given, files, workspace)
  const notebook = parseNotebook(decoded.text, facts.path)
  const changed = changeNotebook(decoded.text, notebook, { source, ...rest }, facts.path)
  return { path: facts.path, facts, decoded, changed }
}

/** An id that is made up is another one each time; an approver is shown the same diff twice. */
function withSteadyId({
  text,
  cellId,
  oldSource,
}: {
  text: string
  cellId?: string | undefined
  oldSource?: string | undefined
}) {
  return cellId === undefined || oldSource !== undefined ? text : text.replace(`"${cellId}"`, '"(a new id)"')
}
