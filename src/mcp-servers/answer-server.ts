import { basename } from "node:path"
import { pathToFileURL } from "node:url"
import { ProtocolError, type Client, type ClientCapabilities } from "@modelcontextprotocol/client"
import type { McpServerSpec } from "../core/mcp.ts"
import type { RequestContext, ElicitAnswer } from "./connection-types.ts"
import type { InFlightRequest, InFlightRequests } from "./in-flight.ts"
import { clientLimits } from "./limits.ts"

const invalidRequest = -32_600
/** The error code that the specification's example uses for refused sampling. */
const samplingRejected = -1

/** The capabilities we declare to a server: in general, or for one call. */
export function capabilitiesFor(spec: McpServerSpec, able?: RequestContext["able"]): ClientCapabilities {
  return {
    ...(able?.elicitation === false ? {} : { elicitation: { form: {}, url: {} } }),
    ...(spec.roots === undefined || (able?.roots === false && spec.roots === "caller") ? {} : { roots: {} }),
    ...(able?.sampling === false || spec.sampling !== "caller" ? {} : { sampling: {} }),
  }
}

/** Answers the requests of a server. They name no call, so each is assigned to the one that runs. */
export function answerServerRequests(
  client: Client,
  requests: InFlightRequests,
  spec: McpServerSpec,
  workspace: string,
): void {
  let open = 0
  const answer = async (method: string, params: unknown, signal: AbortSignal) => {
    if (open >= clientLimits.questions) throw new ProtocolError(invalidRequest, tooManyQuestions)
    open++
    try {
      return await answerOne(method, params, signal)
    } finally {
      open--
    }
  }
  const answerOne = async (method: string, params: unknown, signal: AbortSignal) => {
    const owner = requests.findOwner()
    if (method === "roots/list" && (spec.roots === "workspace" || owner === "none")) {
      return rootsOf(spec, workspace)
    }
    if (owner === "none" || owner === "several") throw new ProtocolError(invalidRequest, unassigned(method, owner))
    return answerServerQuestion(owner, spec, workspace, { method, params, signal })
  }
  client.setRequestHandler("elicitation/create", async (request, { mcpReq }) => {
    return (await answer("elicitation/create", request.params, mcpReq.signal)) as never
  })
  if (spec.roots !== undefined) {
    client.setRequestHandler("roots/list", async (request, { mcpReq }) => {
      return (await answer("roots/list", request.params, mcpReq.signal)) as never
    })
  }
  if (spec.sampling === "caller") {
    client.setRequestHandler("sampling/createMessage", async (request, { mcpReq }) => {
      return (await answer("sampling/createMessage", request.params, mcpReq.signal)) as never
    })
  }
  client.fallbackRequestHandler = (request) => {
    if (request.method === "sampling/createMessage") throw new ProtocolError(samplingRejected, samplingRefused)
    throw new ProtocolError(-32_601, `${request.method} is not answered here.`)
  }
}

/** A server's request. In the newer protocol it has a key. */
export interface ServerQuestion {
  readonly method: string
  readonly params: unknown
  readonly signal: AbortSignal
  readonly key?: string
}

/** Answers a server's question for the call it belongs to. Throws a ProtocolError if it is refused. */
export async function answerServerQuestion(
  request: InFlightRequest,
  spec: McpServerSpec,
  workspace: string,
  { method, params, signal, key }: ServerQuestion,
): Promise<unknown> {
  const { elicit, askCaller } = request.context
  if (method === "elicitation/create") {
    if (elicit === undefined) return { action: "decline" }
    return request.withTimerPaused(() => unlessCancelled(elicit(params as Record<string, unknown>, key), signal))
  }
  if (method === "roots/list" && spec.roots !== "caller") return rootsOf(spec, workspace)
  if (method === "sampling/createMessage" && spec.sampling !== "caller")
    throw new ProtocolError(samplingRejected, samplingRefused)
  if (method !== "roots/list" && method !== "sampling/createMessage") {
    throw new ProtocolError(invalidRequest, `A server may not send ${method} within a call.`)
  }
  if (askCaller === undefined) {
    if (method === "roots/list") return { roots: [] }
    throw new ProtocolError(
      samplingRejected,
      "The program that made the call cannot be asked. Continue without a model's answer.",
    )
  }
  return request.withTimerPaused(() => askCaller(method, params, signal, key))
}

const samplingRefused =
  "Sampling is refused here: servers may not use the caller's model. Continue without it, or have sampling set to caller for this server."

const tooManyQuestions = `Only ${clientLimits.questions} questions are answered at a time. Wait for an answer before you ask more.`

function unassigned(method: string, owner: "none" | "several"): string {
  return owner === "none"
    ? `${method} is only answered while a call runs, and none does.`
    : `${method} names no call, and calls of several agents run, so it cannot be assigned. Ask again when only one runs.`
}

function rootsOf(spec: McpServerSpec, workspace: string): { roots: { uri: string; name: string }[] } {
  if (spec.roots !== "workspace") return { roots: [] }
  return { roots: [{ uri: pathToFileURL(workspace).href, name: basename(workspace) || workspace }] }
}

/** The server may cancel its question while a person still thinks. */
function unlessCancelled(answer: Promise<ElicitAnswer>, signal: AbortSignal): Promise<ElicitAnswer> {
  return new Promise((resolve, reject) => {
    const onAbort = () => resolve({ action: "cancel" })
    if (signal.aborted) return onAbort()
    signal.addEventListener("abort", onAbort, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort))
  })
}
