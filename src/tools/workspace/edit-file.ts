import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { diffPreview } from "./diff.ts"
import { planEdit, type EditPlan } from "./edit-plan.ts"
import type { Edit } from "./edits.ts"
import { filesFor, staleFileFailure, type Workspace } from "./workspace.ts"

const editFields = {
  oldText: z.string().optional().describe("The exact text to replace, unique in the file; empty to make a new file"),
  newText: z.string().optional().describe("What comes in its place, or in the place of the lines"),
  replaceAll: z.boolean().optional().describe("Replace oldText everywhere it is found"),
  startLine: z.int().min(1).optional().describe("Replace whole lines instead: the first one, from 1"),
  endLine: z
    .int()
    .min(0)
    .optional()
    .describe("The last one; startLine when left out; startLine - 1 puts newText before it and takes nothing away"),
}

/** Changes parts of a file and leaves every other byte as it is, including line endings, encoding and byte order mark. */
export const editFile = (workspace: Workspace) =>
  defineTool({
    name: "edit_file",
    group: "workspace",
    category: "file",
    description:
      "Change a text file: replace an exact, unique piece of text (oldText → newText), or whole lines (startLine, endLine, newText). Several edits at once go in edits: all are looked for in the file as it is now, and all are made or none. With preview nothing is changed and the diff comes back.",
    effect: "write",
    permission: { dangerous: true, rateLimit: { maxCallsPerMinute: 30, maxCallsPerHour: 500 } },
    input: () =>
      z
        .object({
          path: z.string().min(1).describe("The file, relative to the workspace, for example src/app/create-app.ts"),
          ...editFields,
          edits: z
            .array(
              z
                .object({ ...editFields, newText: z.string() })
                .strict()
                .superRefine(refuseContradictions),
            )
            .min(1)
            .max(100)
            .optional()
            .describe("Several edits instead of one"),
          preview: z.boolean().optional().describe("Only show what would change"),
          backup: z.boolean().optional().describe("Keep the version before it, which is done unless this is false"),
        })
        .superRefine((fields, context) => {
          if (fields.edits === undefined) return refuseContradictions(fields, context)
          for (const name of ["oldText", "newText", "replaceAll", "startLine", "endLine"] as const) {
            if (fields[name] !== undefined) addIssue(context, name, "cannot be used together with edits")
          }
        }),
    output: () =>
      z.object({
        ok: z.boolean(),
        path: z.string(),
        changed: z.boolean().describe("False for a preview"),
        created: z.boolean(),
        replacements: z.number(),
        additions: z.number(),
        deletions: z.number(),
        diff: z.string(),
        size: z.number(),
        bytesWritten: z.number(),
        encoding: z.string(),
        backup: z.string().optional(),
      }),
    touches: ({ path, preview }) =>
      preview === true
        ? [{ kind: "read", what: path, opens: true }]
        : [
            { kind: "read", what: path, opens: true },
            { kind: "write", what: path, opens: true },
          ],
    onlyReads: ({ preview }) => preview === true,
    async preview(input) {
      const { path, diff, bytes } = await planEdit(input.path, editsOf(input), workspace.files, workspace)
      return diffPreview(path, diff, bytes.length)
    },

    async execute(input, context) {
      const { agent } = context
      const files = filesFor(workspace, context)
      const { path } = input
      return workspace.locks.run(files.normalize(path), async () => {
        const plan = await planEdit(path, editsOf(input), files, workspace)
        if (plan.facts !== undefined && workspace.readMarks.isStale(agent.id, plan.facts))
          throw staleFileFailure(plan.path)
        if (input.preview === true) return { ...summaryOf(plan), changed: false, bytesWritten: 0 }
        context.signal.throwIfAborted()
        const written = await files.write(path, plan.bytes, {
          expected: plan.facts?.version ?? null,
          backups: input.backup === false ? 0 : workspace.backups,
        })
        workspace.readMarks.markRead(agent.id, written.facts)
        const { bytesWritten, backup } = written
        return { ...summaryOf(plan), changed: true, bytesWritten, ...(backup === undefined ? {} : { backup }) }
      })
    },
  })

type Input = Omit<Edit, "newText"> & { newText?: string; edits?: readonly Edit[] }

function editsOf({ edits, newText = "", ...rest }: Input): readonly Edit[] {
  const { oldText, replaceAll, startLine, endLine } = rest
  return edits ?? [{ oldText, newText, replaceAll, startLine, endLine }]
}

function summaryOf({ facts, path, bytes, encoding, replacements, diff }: EditPlan) {
  const { text, additions, deletions } = diff
  const created = facts === undefined
  return { ok: true, path, created, replacements, additions, deletions, diff: text, size: bytes.length, encoding }
}

function refuseContradictions(input: Input, context: z.RefinementCtx): void {
  const { oldText, newText, replaceAll, startLine, endLine } = input
  if (newText === undefined) addIssue(context, "newText", "is missing")
  if (oldText === undefined && startLine === undefined)
    addIssue(context, "oldText", "is missing; give oldText, startLine or edits")
  if (oldText !== undefined && startLine !== undefined)
    addIssue(context, "startLine", "cannot be used together with oldText")
  if (startLine === undefined && endLine !== undefined) addIssue(context, "endLine", "needs startLine")
  if (startLine !== undefined && replaceAll !== undefined) addIssue(context, "replaceAll", "needs oldText")
  if (startLine !== undefined && endLine !== undefined && endLine < startLine - 1)
    addIssue(context, "endLine", "cannot be less than startLine - 1")
}

function addIssue(context: z.RefinementCtx, name: string, message: string): void {
  context.addIssue({ code: "custom", path: [name], message })
}
