import { dataUrl } from "../../core/result-image.ts"
import { governedToolList, type LoopApp, type LoopOptions } from "./governed-calls.ts"

export type { LoopOptions } from "./governed-calls.ts"

/** LangChain's own `tool`, as far as it is used here. */
export type LangChainToolFactory<Tool, Message> = (
  run: (input: unknown, config: LangChainConfig) => Promise<string | LangChainBlock[] | Message>,
  fields: { name: string; description: string; schema: { type: "object"; [key: string]: unknown } },
) => Tool

/** A part of a result that has an image. */
export type LangChainBlock = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string } }

/** LangChain's own class `ToolMessage`, as far as it is used here. */
export type LangChainToolMessage<Message> = new (fields: {
  content: string
  tool_call_id: string
  name: string
  status: "error"
}) => Message

/** LangChain's arguments of a tool besides its input. */
export interface LangChainConfig {
  signal?: AbortSignal
  /** The call of the model. Missing when a program invokes the tool with its input only. */
  toolCall?: { id?: string }
}

/**
 * The tools of an agent as LangChain's structured tools, made with the `tool` and `ToolMessage` of your own LangChain. Calls that
 * are refused, fail or still wait have the status `error`.
 *
 * ```ts
 * import { createAgent, tool, ToolMessage } from "langchain"
 *
 * const agent = createAgent({ model, tools: governedTools(app, "dev", { tool, ToolMessage }) })
 * ```
 */
export function governedTools<Tool, Message>(
  app: LoopApp,
  agentId: string,
  options: LoopOptions & { tool: LangChainToolFactory<Tool, Message>; ToolMessage: LangChainToolMessage<Message> },
): Tool[] {
  const { tool, ToolMessage } = options
  if (typeof tool !== "function" || typeof ToolMessage !== "function") {
    throw new TypeError(
      'Pass LangChain\'s own "tool" and "ToolMessage": governedTools(app, agentId, { tool, ToolMessage }), with import { tool, ToolMessage } from "langchain". Where they are missing: npm install langchain @langchain/core.',
    )
  }
  return governedToolList(app, agentId, options).map(({ name, description, inputSchema, call }) =>
    tool(
      async (input, { signal, toolCall }) => {
        const { text, isError, image } = await call(input, signal)
        if (image !== undefined) {
          return [
            { type: "text", text },
            { type: "image_url", image_url: { url: dataUrl(image) } },
          ]
        }
        // LangChain makes a message with the status `success` of every text.
        return isError && toolCall?.id !== undefined
          ? new ToolMessage({ content: text, tool_call_id: toolCall.id, name, status: "error" })
          : text
      },
      { name, description, schema: { ...inputSchema, type: "object" } },
    ),
  )
}
