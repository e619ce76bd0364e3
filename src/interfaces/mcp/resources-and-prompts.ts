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
import type { Quartermaster } from "../../app/quartermaster.ts"
import { mcpName, mcpParts } from "../../core/mcp.ts"
import { artifactTemplate, isArtifactUri, readArtifact } from "./artifacts.ts"
import type { RequestOutcome } from "./serve-call.ts"
import { badParams, resourceNotFound, partError, stillWaitsError } from "./errors.ts"
import { promptsFor, resourcesFor, resolveResource, sortByNameHere, templatesFor } from "./upstream-items.ts"
import { pageOf } from "./paging.ts"

/** Makes the call that reads a resource, gets a prompt or completes. It is decided and recorded like any other. */
export type CallUpstream = (tool: string, input: unknown) => Promise<RequestOutcome>

export function listResources(app: Quartermaster, agentId: string, cursor?: string): ListResourcesResult {
  const { page, ...more } = pageOf(resourcesFor(app, agentId), cursor)
  return { resources: page.map(({ item, nameHere }) => ({ ...item, uri: nameHere })), ...more }
}

export function listTemplates(app: Quartermaster, agentId: string, cursor?: string): ListResourceTemplatesResult {
  const ours = { server: "", nameHere: artifactTemplate.uriTemplate, upstreamName: "", item: artifactTemplate }
  const { page, ...more } = pageOf(sortByNameHere([...templatesFor(app, agentId), ours]), cursor)
  return { resourceTemplates: page.map(({ item, nameHere }) => ({ ...item, uriTemplate: nameHere })), ...more }
}

export function listPrompts(app: Quartermaster, agentId: string, cursor?: string): ListPromptsResult {
  const { page, ...more } = pageOf(promptsFor(app, agentId), cursor)
  return { prompts: page.map(({ item, nameHere }) => ({ ...item, name: nameHere })), ...more }
}

export async function readResource(
  app: Quartermaster,
  agentId: string,
  uri: string,
  call: CallUpstream,
): Promise<ReadResourceResult | InputRequiredResult> {
  if (isArtifactUri(uri)) return readArtifact(app, agentId, uri)
  const found = resolveResource(app, agentId, uri)
  if (found === undefined) throw resourceNotFound(uri)
  const tool = mcpName(found.server, mcpParts.read)
  const answer = valueOf(await call(tool, { uri: found.uri }), "resource", uri)
  const read = answer as ReadResourceResult | InputRequiredResult
  if (found.uri === uri || !("contents" in read)) return read
  // The contents are returned under the URI that the client asked for.
  const { contents } = read as ReadResourceResult
  return { ...read, contents: contents.map((each) => (each.uri === found.uri ? { ...each, uri } : each)) }
}

export async function getPrompt(
  app: Quartermaster,
  agentId: string,
  prompt: { name: string; arguments?: Record<string, string> },
  call: CallUpstream,
): Promise<GetPromptResult | InputRequiredResult> {
  const found = promptsFor(app, agentId).find(({ nameHere }) => nameHere === prompt.name)
  if (found === undefined) throw badParams(`There is no prompt ${prompt.name}. List the prompts to see what there is.`)
  const input = { name: found.upstreamName, ...(prompt.arguments === undefined ? {} : { arguments: prompt.arguments }) }
  return valueOf(await call(mcpName(found.server, mcpParts.prompt), input), "part") as GetPromptResult
}

export async function complete(
  app: Quartermaster,
  agentId: string,
  { ref, argument, context }: CompleteRequestParams,
  call: CallUpstream,
): Promise<CompleteResult> {
  const none: CompleteResult = { completion: { values: [], total: 0, hasMore: false } }
  const found = refersTo(app, agentId, ref)
  if (found === undefined) throw badParams("There is no such prompt or resource. List them to see what there is.")
  const tool = mcpName(found.server, mcpParts.complete)
  // A server without completions gives none, which is not an error.
  if (!app.isVisible(agentId, tool)) return none
  const input = { ref: found.ref, argument, ...(context === undefined ? {} : { context }) }
  return valueOf(await call(tool, input), "part") as CompleteResult
}

function refersTo(app: Quartermaster, agentId: string, ref: CompleteRequestParams["ref"]) {
  if (ref.type === "ref/prompt") {
    const found = promptsFor(app, agentId).find(({ nameHere }) => nameHere === ref.name)
    return found && { server: found.server, ref: { ...ref, name: found.upstreamName } }
  }
  const template = templatesFor(app, agentId).find(({ nameHere }) => nameHere === ref.uri)
  const found =
    template === undefined
      ? resolveResource(app, agentId, ref.uri)
      : { server: template.server, uri: template.upstreamName }
  return found && { server: found.server, ref: { ...ref, uri: found.uri } }
}

function valueOf(outcome: RequestOutcome, place: "resource" | "part", uri?: string): unknown {
  if ("required" in outcome) return outcome.required
  if ("ticket" in outcome) throw stillWaitsError(outcome.ticket)
  if (!outcome.ended.success) throw partError(outcome.ended, place, uri)
  return outcome.ended.result
}
