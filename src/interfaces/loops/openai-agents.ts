import { governedToolList, type LoopApp, type LoopOptions } from "./governed-calls.ts"

export type { LoopOptions } from "./governed-calls.ts"

/** A function tool as the OpenAI Agents SDK takes it. */
export interface AgentsFunctionTool {
  type: "function"
  name: string
  description: string
  parameters: AgentsSchema
  strict: false
  invoke(runContext: unknown, input: string, details?: AgentsCallDetails): Promise<AgentsOutput>
  needsApproval(): Promise<boolean>
  isEnabled(): Promise<boolean>
}

/** The text for the model; with its image, when the model sees images. */
export type AgentsOutput =
  | string
  | ({ type: "text"; text: string } | { type: "image"; image: { data: string; mediaType: string } })[]

/** A JSON Schema as the types of the SDK want it. The schema itself is sent as the tool has it. */
interface AgentsSchema {
  type: "object"
  properties: Record<string, Record<string, unknown>>
  required: string[]
  additionalProperties: true
}

interface AgentsCallDetails {
  signal?: AbortSignal
}

/**
 * The tools of an agent for the OpenAI Agents SDK (`@openai/agents`). Approvals are Quartermaster's: the run waits for them
 * and is not interrupted.
 *
 * ```ts
 * const agent = new Agent({ name: "Dev", tools: governedTools(app, "dev") })
 * ```
 */
export function governedTools(app: LoopApp, agentId: string, options: LoopOptions = {}): AgentsFunctionTool[] {
  return governedToolList(app, agentId, options).map(({ name, description, inputSchema, call }) => ({
    type: "function",
    name,
    description,
    parameters: inputSchema as unknown as AgentsSchema,
    strict: false,
    async invoke(_context, input, details) {
      const { text, image } = await call(input, details?.signal)
      if (image === undefined) return text
      const { mimeType: mediaType, data } = image
      return [
        { type: "text", text },
        { type: "image", image: { data, mediaType } },
      ]
    },
    needsApproval: () => Promise.resolve(false),
    isEnabled: () => Promise.resolve(true),
  }))
}
