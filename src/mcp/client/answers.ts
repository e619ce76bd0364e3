import { basename } from "node:path"
import { pathToFileURL } from "node:url"
import { ProtocolError, type Client, type ClientCapabilities } from "@modelcontextprotocol/client"
import type { McpServerSpec } from "../../model/mcp.ts"
import type { Asking, ElicitAnswer } from "./exchange.ts"
import type { Flight, Flights } from "./flights.ts"
import { clientLimits } from "./limits.ts"

const invalidRequest = -32_600
/** What the protocol's own example answers when sampling is not wanted. */
const notWanted = -1

/** What a server is told that it may ask of us: in general, or within one call. */
export function capabilitiesFor(spec: McpServerSpec, able?: Asking["able"]): ClientCapabilities {
  return {
    ...(able?.elicitation === false ? {} : { elicitation: { form: {}, url: {} } }),
    ...(able?.roots === false && spec.roots === "caller" ? {} : { roots: {} }),
    ...(able?.sampling === false || spec.sampling !== "caller" ? {} : { sampling: {} }),
  }
}

/** Answers what the server asks by requests of its own. They name no call, so each is held to be of the one that runs. */
export function answerRequests(client: Client, flights: Flights, spec: McpServerSpec, workspace: string): void {
  let open = 0
  const answer = async (method: string, params: unknown, signal: AbortSignal) => {
    if (open >= clientLimits.questions) throw new ProtocolError(invalidRequest, tooMany)
    open++
    try {
      return await answerOne(method, params, signal)
    } finally {
      open--
    }
  }
  const answerOne = async (method: string, params: unknown, signal: AbortSignal) => {
    const flight = flights.whose()
    if (method === "roots/list" && (spec.roots === "workspace" || flight === "nobody")) {
      return rootsOf(spec, workspace)
    }
    if (flight === "nobody" || flight === "several") throw new ProtocolError(invalidRequest, unassigned(method, flight))
    return answerFor(flight, spec, workspace, { method, params, signal })
  }
  client.setRequestHandler("elicitation/create", async (request, { mcpReq }) => {
    return (await answer("elicitation/create", request.params, mcpReq.signal)) as never
  })
  client.setRequestHandler("roots/list", async (request, { mcpReq }) => {
    return (await answer("roots/list", request.params, mcpReq.signal)) as never
  })
  if (spec.sampling === "caller") {
    client.setRequestHandler("sampling/createMessage", async (request, { mcpReq }) => {
      return (await answer("sampling/createMessage", request.params, mcpReq.signal)) as never
    })
  }
  client.fallbackRequestHandler = (request) => {
    if (request.method === "sampling/createMessage") throw new ProtocolError(notWanted, samplingRefused)
    throw new ProtocolError(-32_601, `${request.method} is not answered here.`)
  }
}

/** A question of a server. In the newer protocol it has a key. */
export interface ServerQuestion {
  readonly method: string
  readonly params: unknown
  readonly signal: AbortSignal
  readonly key?: string | undefined
}

/** Answers one question of a server for the call it is known to belong to. Throws a ProtocolError where it is refused. */
export async function answerFor(
  flight: Flight,
  spec: McpServerSpec,
  workspace: string,
  { method, params, signal, key }: ServerQuestion,
): Promise<unknown> {
  const { elicit, askCaller } = flight.asking
  if (method === "elicitation/create") {
    if (elicit === undefined) return { action: "decline" }
    return flight.waitFor(() => unlessGivenUp(elicit(params as Record<string, unknown>, key), signal))
  }
  if (method === "roots/list" && spec.roots === "workspace") return rootsOf(spec, workspace)
  if (method === "sampling/createMessage" && spec.sampling !== "caller")
    throw new ProtocolError(notWanted, samplingRefused)
  if (method !== "roots/list" && method !== "sampling/createMessage") {
    throw new ProtocolError(invalidRequest, `${method} is nothing a server may ask for within a call.`)
  }
  if (askCaller === undefined) {
    if (method === "roots/list") return { roots: [] }
    throw new ProtocolError(notWanted, "The program that made the call cannot be asked. Do without a model's answer.")
  }
  return flight.waitFor(() => askCaller(method, params, signal, key))
}

const samplingRefused =
  "Sampling is refused here: a server gets no answers of the caller's model. Do without, or have sampling set to caller for this server."

const tooMany = `Only ${clientLimits.questions} questions are taken at a time. Wait for an answer before you ask more.`

function unassigned(method: string, flight: "nobody" | "several"): string {
  return flight === "nobody"
    ? `${method} is only answered while a call runs, and none does.`
    : `${method} names no call, and calls of several agents run, so nobody can be asked. Ask again when only one runs.`
}

function rootsOf(spec: McpServerSpec, workspace: string): { roots: { uri: string; name: string }[] } {
  if (spec.roots !== "workspace") return { roots: [] }
  return { roots: [{ uri: pathToFileURL(workspace).href, name: basename(workspace) || workspace }] }
}

/** The server may give up its question while a person still thinks. */
function unlessGivenUp(answer: Promise<ElicitAnswer>, signal: AbortSignal): Promise<ElicitAnswer> {
  return new Promise((resolve, reject) => {
    const givenUp = () => resolve({ action: "cancel" })
    if (signal.aborted) return givenUp()
    signal.addEventListener("abort", givenUp, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", givenUp))
  })
}
