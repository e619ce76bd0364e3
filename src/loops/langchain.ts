import { governedToolList, type LoopApp, type LoopOptions } from "./governed-calls.ts"

export type { LoopOptions } from "./governed-calls.ts"

/** LangChain's own `tool`, as far as it is used here. */
export type LangChainToolFactory<Tool> = (
  run: (input: unknown, config: LangChainConfig) => Promise<string>,
  fields: { name: string; description: string; schema: { type: "object"; [key: string]: unknown } },
) => Tool

/** What LangChain passes to a tool besides its input. */
export interface LangChainConfig {
  signal?: AbortSignal | undefined
}

/**
 * The tools of an agent as LangChain's structured tools, made with the `tool` of your own LangChain.
 *
 * ```ts
 * import { createAgent, tool } from "langchain"
 *
 * const agent = createAgent({ model, tools: governedTools(app, "dev", { tool }) })
 * ```
 */
export function governedTools<Tool>(
  app: LoopApp,
  agentId: string,
  options: LoopOptions & { tool: LangChainToolFactory<Tool> },
): Tool[] {
  const { tool } = options
  if (typeof tool !== "function") {
    throw new TypeError(
      'Pass LangChain\'s own "tool": governedTools(app, agentId, { tool }), with import { tool } from "langchain". Where it is missing: npm install langchain @langchain/core.',
    )
  }
  return governedToolList(app, agentId, options).map(({ name, description, inputSchema, call }) =>
    tool(async (input, { signal }) => (await call(input, signal)).text, {
      name,
      description,
      schema: { ...inputSchema, type: "object" },
    }),
  )
}
