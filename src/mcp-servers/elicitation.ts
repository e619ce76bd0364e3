import { randomUUID } from "node:crypto"
import { z } from "zod"
import { defineTool } from "../schema/define-tool.ts"
import type { Question } from "../core/approval.ts"
import { mcpName, mcpParts } from "../core/mcp.ts"
import { errorMessage } from "../lib/error-message.ts"
import type { ToolResult } from "../core/result.ts"
import { type JsonSchema } from "../core/schema.ts"
import { compileSchema } from "../schema/compile-schema.ts"
import type { Tool, ToolContext } from "../core/tool.ts"
import type { ElicitAnswer } from "./connection-types.ts"

/** The questions that servers ask right now. The tool accepts only these, so that agents cannot ask in a server's name. */
const openQuestions = new Set<string>()

const elicitationInput = z.object({
  message: z.string().max(16_000),
  /** The JSON Schema of the form, as text: stored inputs lose the order of fields, which the person should see. */
  form: z
    .string()
    .max(256 * 1024)
    .optional(),
  url: z.url({ protocol: /^https?$/ }).optional(),
  /** The id of the call that asks. */
  call: z.string(),
  /** Makes each question unique, so that one answer cannot count for two. */
  id: z.string().refine((id) => openQuestions.has(id), "is not a question that the server asks now"),
  /** The server's own key for the question, if it has one. */
  key: z.string().optional(),
})

/** The interactive tool by which a server asks a person while one of its tools runs. */
export function elicitationTool(server: string, quarantine: string | undefined): Tool {
  return defineTool({
    name: mcpName(server, mcpParts.elicit),
    group: server,
    description: `A question of the MCP server ${server} to a person, while one of its tools runs.`,
    category: "mcp",
    effect: "communicate",
    kind: "interactive",
    exposedAs: "inside",
    permission: { level: "public" },
    input: elicitationInput,
    // The server wrote the input, and nothing opens what it names.
    touches: () => [],
    ...(quarantine === undefined ? {} : { quarantine }),
    question: ({ message, form, url }): Question => ({
      question: message,
      form: form === undefined ? undefined : (JSON.parse(form) as JsonSchema),
      url,
    }),
    execute: (_input, { answer }) => ({ answer }),
  })
}

/** Asks a person the question of an `elicitation/create` and returns the answer for the server. */
export async function elicit(
  server: string,
  context: ToolContext,
  params: Record<string, unknown>,
  key?: string,
): Promise<ElicitAnswer> {
  const id = randomUUID()
  openQuestions.add(id)
  try {
    const input = readQuestion(params, { call: context.callId, id, key })
    if (!("wrong" in input)) return answerOf(await context.call(mcpName(server, mcpParts.elicit), input), input)
    context.log(`A question of ${server} was declined: ${input.wrong}`)
    return { action: "decline" }
  } finally {
    openQuestions.delete(id)
  }
}

function answerOf({ success, code, result }: ToolResult, { url }: ElicitationInput): ElicitAnswer {
  if (!success) return { action: refusedAction(code) }
  if (url !== undefined) return { action: "accept" }
  return { action: "accept", content: (result as { answer: Record<string, unknown> }).answer }
}

/** *cancel* if no decision was made, *decline* if a person or a rule said no. */
function refusedAction(code: string | undefined): "cancel" | "decline" {
  return code === "approval_expired" || code === "aborted" || code === "interrupted" ? "cancel" : "decline"
}

type ElicitationInput = z.infer<typeof elicitationInput>

function readQuestion(
  params: Record<string, unknown>,
  ids: Pick<ElicitationInput, "call" | "id" | "key">,
): ElicitationInput | { wrong: string } {
  const { mode, message, requestedSchema, url } = params
  const form = mode === "url" ? undefined : JSON.stringify(requestedSchema)
  const read = elicitationInput.safeParse({ ...ids, message, form, url: mode === "url" ? url : undefined })
  if (!read.success) return { wrong: z.prettifyError(read.error) }
  if (read.data.url === undefined && form === undefined) return { wrong: "It has neither a form nor a URL." }
  const problem = form === undefined ? undefined : formProblem(requestedSchema)
  return problem === undefined ? read.data : { wrong: problem }
}

function formProblem(form: unknown): string | undefined {
  try {
    compileSchema(form as never, "refuse")
    return undefined
  } catch (error) {
    return errorMessage(error)
  }
}
