import { z } from "zod"
import { defineTool } from "../schema/define-tool.ts"
import { normalizeUrl } from "../lib/url.ts"
import { mcpName, mcpParts } from "../core/mcp.ts"
import type { Tool, ToolContext } from "../core/tool.ts"
import { elicitationTool } from "./elicitation.ts"
import type { PinnedParts } from "./pins.ts"
import { completionValue, promptValue, resourceValue } from "./check-result.ts"

/** The requests for the parts of a server that are not tools. Each returns the result as the server sent it. */
export interface PartCalls {
  read(uri: string, context: ToolContext): Promise<unknown>
  /** Reports whether the server lists a resource with exactly this URI. */
  lists(uri: string): boolean
  prompt(prompt: { name: string; arguments?: Record<string, string> }, context: ToolContext): Promise<unknown>
  complete(params: Record<string, unknown>, context: ToolContext): Promise<unknown>
}

interface PartOptions {
  readonly timeoutMs?: number
  readonly quarantine?: string
  /** The base folders of the server's relative paths; undefined for a server on another machine. */
  readonly folders?: readonly string[]
}

/**
 * The resources, prompts, completions and questions of a server as tools. Agents with the server's group may call them,
 * and each call is decided, limited and recorded.
 */
export function partTools(server: string, parts: PinnedParts, calls: PartCalls, options: PartOptions): Tool[] {
  const common = {
    group: server,
    category: "mcp" as const,
    effect: "read" as const,
    questionTool: mcpName(server, mcpParts.elicit),
    ...(options.timeoutMs === undefined ? { timeoutMs: 60_000 } : { timeoutMs: options.timeoutMs }),
    namedPaths: { folders: options.folders ?? [], onlyReads: true },
    ...(options.quarantine === undefined ? {} : { quarantine: options.quarantine }),
  }
  const name = (part: string) => mcpName(server, part)
  // Rules match the text of a URI, so only one spelling is accepted: as the server lists it, or normalized.
  const address = z
    .string()
    .min(1)
    .max(8192)
    .refine((uri) => calls.lists(uri) || uri === (normalizeUrl(uri) ?? uri.trim()), {
      error: ({ input }) => `must be written as ${normalizeUrl(String(input)) ?? "an address without spaces"}`,
    })
    .describe("The address of the resource")
  const read = () =>
    defineTool({
      ...common,
      name: name(mcpParts.read),
      description: `Reads a resource of the MCP server ${server} by its address.`,
      exposedAs: "resource",
      input: z.object({ uri: address }),
      execute: checkedCall(
        mcpParts.read,
        ({ uri }: { uri: string }, context) => calls.read(uri, context),
        resourceValue,
      ),
    })
  const subscribe = () =>
    defineTool({
      ...common,
      name: name(mcpParts.subscribe),
      description: `Asks the MCP server ${server} to report changes of a resource.`,
      exposedAs: "inside",
      input: z.object({ uri: address }),
      // This call only decides and records the subscription; the caller then makes it.
      execute: ({ uri }: { uri: string }) => ({ uri }),
    })
  const prompt = () =>
    defineTool({
      ...common,
      name: name(mcpParts.prompt),
      description: `Fills in a prompt of the MCP server ${server}.`,
      exposedAs: "prompt",
      input: z.object({
        name: z.string().min(1).describe("The name of the prompt"),
        arguments: z.record(z.string(), z.string()).optional().describe("What to fill in"),
      }),
      execute: checkedCall(mcpParts.prompt, calls.prompt, promptValue),
    })
  const complete = () =>
    defineTool({
      ...common,
      name: name(mcpParts.complete),
      description: `Proposes values for an argument of a prompt or resource of the MCP server ${server}.`,
      exposedAs: "inside",
      input: z.object({
        ref: z.looseObject({ type: z.string() }),
        argument: z.object({ name: z.string(), value: z.string() }),
        context: z.looseObject({}).optional(),
      }),
      execute: checkedCall(mcpParts.complete, calls.complete, completionValue),
    })
  return [
    elicitationTool(server, options.quarantine),
    ...(parts.resources ? [read(), subscribe()] : []),
    ...(parts.prompts ? [prompt()] : []),
    ...(parts.completions ? [complete()] : []),
  ]

  function checkedCall<Input>(
    part: string,
    call: (input: Input, context: ToolContext) => Promise<unknown>,
    value: (part: string, raw: unknown) => unknown,
  ) {
    return async (input: Input, context: ToolContext) => value(name(part), await call(input, context))
  }
}
