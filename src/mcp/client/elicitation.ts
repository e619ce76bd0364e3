import { randomUUID } from "node:crypto"
import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { Question } from "../../model/approval.ts"
import { mcpName, mcpParts } from "../../model/mcp.ts"
import { messageOf } from "../../model/message.ts"
import type { ToolResult } from "../../model/result.ts"
import { compileSchema, type JsonSchema } from "../../model/schema.ts"
import type { Tool, ToolContext } from "../../model/tool.ts"
import type { ElicitAnswer } from "./connection.ts"

/** What servers ask right now. Nobody else asks in a server's name. */
const open = new Set<string>()

const asked = z.object({
  message: z.string().max(16_000),
  /** Its JSON Schema as text: what a server puts first a person sees first, and an input's own order is not kept. */
  form: z
    .string()
    .max(256 * 1024)
    .optional(),
  url: z.url({ protocol: /^https?$/ }).optional(),
  /** The call it is asked for. */
  call: z.string(),
  /** No two questions are the same, so that nobody answers two with one word. */
  id: z.string().refine((id) => open.has(id), "is of no question that the server asks now"),
  /** What the server calls it, where it has a name for it. */
  key: z.string().optional(),
})

/** What a server asks a person while one of its tools runs: a question that waits at the desk. */
export function elicitationTool(server: string, quarantine: string | undefined): Tool {
  return defineTool({
    name: mcpName(server, mcpParts.elicit),
    group: server,
    description: `A question of the MCP server ${server} to a person, while one of its tools runs.`,
    category: "mcp",
    effect: "communicate",
    kind: "interactive",
    offered: "inside",
    permission: { level: "public" },
    input: asked,
    ...(quarantine === undefined ? {} : { quarantine }),
    question: ({ message, form, url }): Question => ({
      question: message,
      form: form === undefined ? undefined : (JSON.parse(form) as JsonSchema),
      url,
    }),
    execute: (_input, { answer }) => ({ answer }),
  })
}

/** Puts the params of `elicitation/create` to a person and says what became of it. */
export async function elicit(
  server: string,
  context: ToolContext,
  params: Record<string, unknown>,
  key?: string,
): Promise<ElicitAnswer> {
  const id = randomUUID()
  open.add(id)
  try {
    const input = readQuestion(params, { call: context.callId, id, key })
    if (!("wrong" in input)) return answerOf(await context.call(mcpName(server, mcpParts.elicit), input), input)
    context.log(`A question of ${server} was declined: ${input.wrong}`)
    return { action: "decline" }
  } finally {
    open.delete(id)
  }
}

function answerOf({ success, code, result }: ToolResult, { url }: Asked): ElicitAnswer {
  if (!success) return { action: closed(code) }
  if (url !== undefined) return { action: "accept" }
  return { action: "accept", content: (result as { answer: Record<string, unknown> }).answer }
}

/** Nobody decided, as opposed to somebody who, or a rule which, said no. */
function closed(code: string | undefined): "cancel" | "decline" {
  return code === "approval_expired" || code === "aborted" || code === "interrupted" ? "cancel" : "decline"
}

type Asked = z.infer<typeof asked>

function readQuestion(
  params: Record<string, unknown>,
  about: Pick<Asked, "call" | "id" | "key">,
): Asked | { wrong: string } {
  const { mode, message, requestedSchema, url } = params
  const form = mode === "url" ? undefined : JSON.stringify(requestedSchema)
  const read = asked.safeParse({ ...about, message, form, url: mode === "url" ? url : undefined })
  if (!read.success) return { wrong: z.prettifyError(read.error) }
  if (read.data.url === undefined && form === undefined) return { wrong: "It has neither a form nor an address." }
  const problem = form === undefined ? undefined : formProblem(requestedSchema)
  return problem === undefined ? read.data : { wrong: problem }
}

function formProblem(form: unknown): string | undefined {
  try {
    compileSchema(form as never, true)
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}
