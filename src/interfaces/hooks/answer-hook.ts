import type { Quartermaster } from "../../app/quartermaster.ts"
import { inNativeNames, isTicket, type Ticket, type ToolResult } from "../../core/result.ts"
import { answerText, modelText, ticketText } from "../../core/model-text.ts"
import { canonicalJson, sha256 } from "../../lib/canonical-json.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { isObject } from "../../lib/is-object.ts"
import { inputElsewhere, toolElsewhere } from "../../registry/client-tools.ts"
import { hookAgent } from "./hook-agent.ts"
import { nothing, type HookClient, type HookedCall, type HookEvent, type HookReply } from "./hook-client.ts"
import { hookClients, type HookClientName } from "./hook-clients.ts"

type App = Pick<Quartermaster, "call" | "elsewhere" | "org" | "registry">

/** The options and the input of a hook. */
export interface HookRequest {
  client: HookClientName
  /** The agent of the session. */
  agentId: string
  /** The text on stdin. */
  text: string
  /** The event, for agents whose payload does not say it. */
  event?: string
  /** Milliseconds that a person has to answer before the agent is told to come back. */
  waitMs: number
  /** The name of our own MCP server in the agent's configuration: its calls are decided on when they reach it. */
  serverName?: string
  /** `hooks.askInClient` of the configuration. */
  askInClient?: boolean
}

/** A run may take an hour, a sub-agent's a day. */
const limitMs = 24 * 60 * 60 * 1000

/** Decides on a coding agent's call, or records what came of it. It never throws: what it cannot read it denies. */
export async function answerHook(app: App, request: HookRequest): Promise<HookReply> {
  const client: HookClient = hookClients[request.client]
  try {
    const event = readEvent(client, request)
    if (typeof event === "string") return client.deny(await recordUnreadable(app, request, event))
    if (event.kind === "before") return await before(app, client, request, event)
    if (event.kind === "after") return await after(app, client, request, event)
    if (event.kind === "session-end") {
      const sessionId = sessionOf(request, event.sessionId)
      await app.elsewhere.endSession({ sessionId }, `${request.client} ended without reporting what came of it.`)
    }
    return nothing
  } catch (error) {
    return client.deny(`Quartermaster could not decide: ${errorMessage(error)} Nothing was executed.`)
  }
}

/** The event, or why it cannot be read. */
function readEvent(client: HookClient, { text, event }: HookRequest): HookEvent | string {
  let payload: unknown
  try {
    payload = JSON.parse(text)
  } catch {
    return "it is not JSON."
  }
  if (!isObject(payload)) return "it is not a JSON object."
  try {
    return client.read(payload, event)
  } catch (error) {
    return `${errorMessage(error).slice(0, 1).toLowerCase()}${errorMessage(error).slice(1)}`
  }
}

/** Records unreadable input in the audit log too, as a call of an unknown tool. */
async function recordUnreadable(app: App, { client, agentId, text }: HookRequest, why: string): Promise<string> {
  await app.call({ agentId, tool: `${client}:unreadable`, input: { characters: text.length, why } })
  return `What ${client} sent to its hook cannot be read: ${why} Nothing was executed. Update Quartermaster or ${client}, and tell the person.`
}

async function before(
  app: App,
  client: HookClient,
  request: HookRequest,
  { call, isAttended }: Extract<HookEvent, { kind: "before" }>,
): Promise<HookReply> {
  if (isOurOwn(app, call, request)) return nothing
  const sessionId = sessionOf(request, call.sessionId)
  const agentId = await hookAgent(app, request.agentId, call.subAgent)
  const again = call.id === undefined ? undefined : await letThrough(app, request, call, { agentId, sessionId })
  if (again !== undefined)
    return (again === "other" ? undefined : started(client, request, call, again)) ?? client.deny(otherInput)
  const mayAsk = isAttended && request.askInClient === true && client.ask !== undefined
  const elsewhere = { client: request.client, callId: shortened(call.id), cwd: call.cwd, limitMs, mayAsk }
  const ended = await app.call(
    { agentId, tool: call.tool, input: call.input, sessionId, anySession: true, elsewhere },
    { waitMs: request.waitMs },
  )
  if (!isTicket(ended)) return client.deny(refusal(ended))
  if (ended.state !== "started") return client.deny(ticketText(ended, call.tool))
  const reply = started(client, request, call, ended)
  if (reply !== undefined) return reply
  const why = `A person changed the input to ${JSON.stringify(ended.run?.input)}, and ${request.client} cannot be given that.`
  await app.elsewhere.report(ended.callId, { failed: why })
  return client.deny(`NOT EXECUTED. ${why} Make the call with that input.`)
}

const otherInput =
  "NOT EXECUTED. A call with this id was let through with another input. Make the call again under a new id."

/** The answer to a call that may run. Undefined where the agent has no field for what a person changed. */
function started(client: HookClient, request: HookRequest, call: HookedCall, { run }: Pick<Ticket, "run">) {
  const { input, edited = false, ask = false, note } = run ?? { input: undefined }
  if (ask) return client.ask?.("Quartermaster leaves this to you: its rules want a person to look at it.")
  const said = note === undefined ? undefined : `A person approved this and says: ${JSON.stringify(note)}`
  if (!edited) return client.allow(undefined, said)
  if (!client.takesInput) return undefined
  const changed = inputElsewhere(call, { client: request.client, cwd: call.cwd }, input)
  return changed === undefined ? undefined : client.allow({ input: changed }, said)
}

/** The same call, when its hook is called twice: `other` when the input is not the same. */
async function letThrough(
  app: App,
  { client }: HookRequest,
  call: HookedCall,
  { agentId, sessionId }: { agentId: string; sessionId: string },
): Promise<Pick<Ticket, "run"> | "other" | undefined> {
  const running = await app.elsewhere.list({ agentId, sessionId })
  const same = running.find(({ id }) => id === shortened(call.id))
  if (same === undefined) return undefined
  return same.run.edited || isSameInput(app, client, call, agentId, same.run.input) ? same : "other"
}

function isSameInput(app: App, client: string, call: HookedCall, agentId: string, input: unknown): boolean {
  const elsewhere = { client, cwd: call.cwd, limitMs }
  const read = toolElsewhere(call, elsewhere, app.org.view(agentId), app.registry)
  return canonicalJson(read.input) === canonicalJson(input)
}

async function after(
  app: App,
  client: HookClient,
  request: HookRequest,
  { call, outcome }: Extract<HookEvent, { kind: "after" }>,
): Promise<HookReply> {
  if (isOurOwn(app, call, request)) return nothing
  const sessionId = sessionOf(request, call.sessionId)
  const running = await app.elsewhere.list({ sessionId })
  const own = running.filter(({ calledAs }) => calledAs === call.tool)
  const found =
    call.id === undefined
      ? (own.find(({ agentId, run }) => run.edited || isSameInput(app, request.client, call, agentId, run.input)) ??
        own[0])
      : running.find(({ id }) => id === shortened(call.id))
  if (found === undefined) return nothing
  const ended = await app.elsewhere.report(found.callId, outcome, { waitMs: request.waitMs })
  const text = replacement(ended, call.tool)
  if (text === undefined) return nothing
  return client.replace("value" in outcome ? outcome.value : undefined, text, call) ?? nothing
}

/** Returns the model's text in place of the result. Undefined when it may see the result as it is. */
function replacement(ended: ToolResult | Ticket, tool: string): string | undefined {
  if (isTicket(ended)) return ticketText(ended, tool)
  if (ended.success) return ended.metadata?.["redacted"] === true ? modelText(ended) : undefined
  const isKept = ended.status === "result_rejected" || ended.metadata?.["redacted"] === true
  return isKept || ended.code === "record_unavailable" ? modelText(inNativeNames(ended)) : undefined
}

/** Why it does not run, for the model. A call that ran before and whose result was released has it here. */
function refusal(ended: ToolResult): string {
  return ended.success
    ? `This call has run already, and was not run again. ${answerText(ended, ended.toolName)}`
    : modelText(inNativeNames(ended))
}

/** Reports whether the call goes to our own MCP server. Some agents write only a prefix: there the tool must be ours too. */
function isOurOwn(app: App, { tool }: HookedCall, { client, serverName = "quartermaster" }: HookRequest): boolean {
  if (tool.startsWith(`mcp__${serverName}__`)) return true
  const prefix = `${serverName}${client === "copilot" ? "-" : "_"}`
  if ((client !== "opencode" && client !== "copilot") || !tool.startsWith(prefix)) return false
  return app.registry.resolve(tool.slice(prefix.length), undefined) !== undefined
}

/** Sessions of two programs are two. */
function sessionOf({ client }: HookRequest, sessionId: string): string {
  const named = `${client}:${sessionId}`
  return named.length <= 200 ? named : `${client}:${sha256(sessionId)}`
}

function shortened(id: string | undefined): string | undefined {
  return id === undefined || id.length <= 200 ? id : sha256(id)
}
