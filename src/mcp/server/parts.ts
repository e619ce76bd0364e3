import type {
  CompleteRequestParams,
  CompleteResult,
  GetPromptResult,
  InputRequiredResult,
  ListPromptsResult,
  ListResourcesResult,
  ListResourceTemplatesResult,
  ReadResourceResult,
} from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import { mcpName, mcpParts } from "../../model/mcp.ts"
import { artifactTemplate, isArtifactUri, readArtifact } from "./artifacts.ts"
import type { Said } from "./conversation.ts"
import { badParams, notFound, partError, stillWaits } from "./errors.ts"
import { promptsFor, resourcesFor, serverOf, sorted, templatesFor } from "./offers.ts"
import { pageOf } from "./paging.ts"

/** Makes the call that reads, fills in or completes: it is decided and recorded like any other. */
export type CallPart = (tool: string, input: unknown) => Promise<Said>

export function listResources(app: App, agentId: string, cursor?: string): ListResourcesResult {
  const { page, ...more } = pageOf(resourcesFor(app, agentId), cursor)
  return { resources: page.map(({ item, shown }) => ({ ...item, uri: shown })), ...more }
}

export function listTemplates(app: App, agentId: string, cursor?: string): ListResourceTemplatesResult {
  const ours = { server: "", shown: artifactTemplate.uriTemplate, own: "", item: artifactTemplate }
  const { page, ...more } = pageOf(sorted([...templatesFor(app, agentId), ours]), cursor)
  return { resourceTemplates: page.map(({ item, shown }) => ({ ...item, uriTemplate: shown })), ...more }
}

export function listPrompts(app: App, agentId: string, cursor?: string): ListPromptsResult {
  const { page, ...more } = pageOf(promptsFor(app, agentId), cursor)
  return { prompts: page.map(({ item, shown }) => ({ ...item, name: shown })), ...more }
}

export async function readResource(
  app: App,
  agentId: string,
  uri: string,
  call: CallPart,
): Promise<ReadResourceResult | InputRequiredResult> {
  if (isArtifactUri(uri)) return readArtifact(app, agentId, uri)
  const found = serverOf(app, agentId, uri)
  if (found === undefined) throw notFound(uri)
  const tool = mcpName(found.server, mcpParts.read)
  const said = answerOf(await call(tool, { uri: found.uri }), "resource", uri)
  const read = said as ReadResourceResult | InputRequiredResult
  if (found.uri === uri || !("contents" in read)) return read
  // Asked for by its longer address, it answers by that.
  const { contents } = read as ReadResourceResult
  return { ...read, contents: contents.map((each) => (each.uri === found.uri ? { ...each, uri } : each)) }
}

export async function getPrompt(
  app: App,
  agentId: string,
  asked: { name: string; arguments?: Record<string, string> | undefined },
  call: CallPart,
): Promise<GetPromptResult | InputRequiredResult> {
  const found = promptsFor(app, agentId).find(({ shown }) => shown === asked.name)
  if (found === undefined) throw badParams(`There is no prompt ${asked.name}. List the prompts to see what there is.`)
  const input = { name: found.own, ...(asked.arguments === undefined ? {} : { arguments: asked.arguments }) }
  return answerOf(await call(mcpName(found.server, mcpParts.prompt), input), "part") as GetPromptResult
}

export async function complete(
  app: App,
  agentId: string,
  { ref, argument, context }: CompleteRequestParams,
  call: CallPart,
): Promise<CompleteResult> {
  const none: CompleteResult = { completion: { values: [], total: 0, hasMore: false } }
  const found = refersTo(app, agentId, ref)
  if (found === undefined) throw badParams("There is no such prompt or resource. List them to see what there is.")
  const tool = mcpName(found.server, mcpParts.complete)
  // A server without completions simply has none to propose.
  if (!app.mayKnow(agentId, tool)) return none
  const input = { ref: found.ref, argument, ...(context === undefined ? {} : { context }) }
  return answerOf(await call(tool, input), "part") as CompleteResult
}

function refersTo(app: App, agentId: string, ref: CompleteRequestParams["ref"]) {
  if (ref.type === "ref/prompt") {
    const found = promptsFor(app, agentId).find(({ shown }) => shown === ref.name)
    return found && { server: found.server, ref: { ...ref, name: found.own } }
  }
  const template = templatesFor(app, agentId).find(({ shown }) => shown === ref.uri)
  const found =
    template === undefined ? serverOf(app, agentId, ref.uri) : { server: template.server, uri: template.own }
  return found && { server: found.server, ref: { ...ref, uri: found.uri } }
}

function answerOf(said: Said, place: "resource" | "part", uri?: string): unknown {
  if ("required" in said) return said.required
  if ("ticket" in said) throw stillWaits(said.ticket)
  if (!said.ended.success) throw partError(said.ended, place, uri)
  return said.ended.result
}
