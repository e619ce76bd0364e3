import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import { normalAddress } from "../../model/address.ts"
import { mcpName, mcpParts } from "../../model/mcp.ts"
import type { Tool, ToolContext } from "../../model/tool.ts"
import { elicitationTool } from "./elicitation.ts"
import type { PinnedParts } from "./pins.ts"
import { completionValue, promptValue, resourceValue } from "./results.ts"

/** How what is no tool is asked of a server; each returns its answer as it was sent. */
export interface PartCalls {
  read(uri: string, context: ToolContext): Promise<unknown>
  /** Whether the server lists a resource by exactly this address. */
  lists(uri: string): boolean
  prompt(
    given: { name: string; arguments?: Record<string, string> | undefined },
    context: ToolContext,
  ): Promise<unknown>
  complete(params: Record<string, unknown>, context: ToolContext): Promise<unknown>
}

interface PartOptions {
  readonly timeoutMs?: number | undefined
  readonly quarantine?: string | undefined
}

/**
 * The resources, prompts, completions and questions of a server as things that are called: whoever has its group may,
 * and each call is decided, limited and recorded like that of a tool.
 */
export function partTools(server: string, has: PinnedParts, calls: PartCalls, options: PartOptions): Tool[] {
  const common = {
    group: server,
    category: "mcp" as const,
    effect: "read" as const,
    asks: mcpName(server, mcpParts.elicit),
    ...(options.timeoutMs === undefined ? { timeoutMs: 60_000 } : { timeoutMs: options.timeoutMs }),
    ...(options.quarantine === undefined ? {} : { quarantine: options.quarantine }),
  }
  const name = (part: string) => mcpName(server, part)
  // A rule judges the letters of an address, so there is one way to write it: as the server lists it, or the normal one.
  const address = z
    .string()
    .min(1)
    .max(8192)
    .refine((uri) => calls.lists(uri) || uri === (normalAddress(uri) ?? uri.trim()), {
      error: ({ input }) => `must be written as ${normalAddress(String(input)) ?? "an address without spaces"}`,
    })
    .describe("The address of the resource")
  const read = () =>
    defineTool({
      ...common,
      name: name(mcpParts.read),
      description: `Reads a resource of the MCP server ${server} by its address.`,
      offered: "resource",
      input: z.object({ uri: address }),
      execute: answered(mcpParts.read, ({ uri }: { uri: string }, context) => calls.read(uri, context), resourceValue),
    })
  const subscribe = () =>
    defineTool({
      ...common,
      name: name(mcpParts.subscribe),
      description: `Asks the MCP server ${server} to tell of changes of a resource.`,
      offered: "inside",
      input: z.object({ uri: address }),
      // Whoever asked keeps what is told for as long as it listens; this says that it may, and is written down.
      execute: ({ uri }: { uri: string }) => ({ uri }),
    })
  const prompt = () =>
    defineTool({
      ...common,
      name: name(mcpParts.prompt),
      description: `Fills in a prompt of the MCP server ${server}.`,
      offered: "prompt",
      input: z.object({
        name: z.string().min(1).describe("The name of the prompt"),
        arguments: z.record(z.string(), z.string()).optional().describe("What to fill in"),
      }),
      execute: answered(mcpParts.prompt, calls.prompt, promptValue),
    })
  const complete = () =>
    defineTool({
      ...common,
      name: name(mcpParts.complete),
      description: `Proposes values for an argument of a prompt or resource of the MCP server ${server}.`,
      offered: "inside",
      input: z.object({
        ref: z.looseObject({ type: z.string() }),
        argument: z.object({ name: z.string(), value: z.string() }),
        context: z.looseObject({}).optional(),
      }),
      execute: answered(mcpParts.complete, calls.complete, completionValue),
    })
  return [
    elicitationTool(server, options.quarantine),
    ...(has.resources ? [read(), subscribe()] : []),
    ...(has.prompts ? [prompt()] : []),
    ...(has.completions ? [complete()] : []),
  ]

  function answered<Input>(
    part: string,
    call: (input: Input, context: ToolContext) => Promise<unknown>,
    value: (part: string, raw: unknown) => unknown,
  ) {
    return async (input: Input, context: ToolContext) => value(name(part), await call(input, context))
  }
}
