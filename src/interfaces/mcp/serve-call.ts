import {
  inputRequired,
  TRACEPARENT_META_KEY,
  type InputRequiredResult,
  type LoggingLevel,
  type ServerContext,
} from "@modelcontextprotocol/server"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { Caller } from "../../core/call.ts"
import { isTicket, type Ticket, type ToolResult } from "../../core/result.ts"
import { noAbilities, type ClientAbilities } from "./capabilities.ts"
import { OpenCall, type ClientForms } from "./open-call.ts"
import type { OpenCalls } from "./open-calls.ts"
import { waitForCall, waitForCallOnce } from "./wait-for-call.ts"
import type { ClientIdentity } from "./client-identity.ts"
import type { ClientPatience } from "./client-patience.ts"
import { clientNotifier } from "./notify-client.ts"
import { callFingerprint, type Tickets } from "./tickets.ts"

/** The parts that all requests of an endpoint share. */
export interface EndpointParts {
  readonly app: Quartermaster
  readonly openCalls: OpenCalls
  readonly tickets: Tickets
  readonly waitMs: number
  readonly progressMs: number
  readonly patience: ClientPatience
  readonly forms: ClientForms
  /** True once other servers have connected, or had the time to. */
  readonly servers: { readonly ready: Promise<void>; readonly areReady: boolean }
}

/** A client's request that leads to a call. */
export interface ToolCallRequest {
  readonly identity: ClientIdentity
  readonly era: "legacy" | "modern"
  readonly sessionId?: string
  readonly abilities: ClientAbilities
  readonly tool: string
  readonly input: unknown
  readonly traceId: string | undefined
}

/** A request served by the SDK: the client can be notified and asked before it gets its response. */
export interface InteractiveRequest extends ToolCallRequest {
  readonly context: ServerContext
  /** The program that asks, as far as it can be told from others. */
  readonly client: string
  /** The lowest level of log messages the session wants. */
  readonly logLevel?: LoggingLevel
}

/** A request that gets one response and nothing before it. */
export interface OneShotRequest extends ToolCallRequest {
  /** Calls `then` when the client disconnects. */
  onDisconnect(then: () => void): void
}

/** The end of a request: with the call's result, with a ticket for a waiting call, or with questions to the client. */
export type RequestOutcome = { ended: ToolResult } | { ticket: Ticket } | { required: InputRequiredResult }

/**
 * Makes the call, or continues the one this request belongs to, and waits for it as long as the client can. A one-shot
 * request gets undefined when somebody must be asked: the call then continues, and an interactive request joins it.
 */
export function serveCall(parts: EndpointParts, request: InteractiveRequest): Promise<RequestOutcome>
export function serveCall(
  parts: EndpointParts,
  request: InteractiveRequest | OneShotRequest,
): Promise<RequestOutcome | undefined>
export function serveCall(
  parts: EndpointParts,
  request: InteractiveRequest | OneShotRequest,
): Promise<RequestOutcome | undefined> {
  return "context" in request ? serveInteractive(parts, request) : serveOneShot(parts, request)
}

async function serveInteractive(parts: EndpointParts, request: InteractiveRequest): Promise<RequestOutcome> {
  const { app, openCalls, patience } = parts
  const { identity, context, era, client } = request
  const fingerprint = callFingerprint(app, request)
  const notifier = clientNotifier(context, era, request.logLevel)
  const state: unknown = era === "modern" ? context.mcpReq.requestState() : undefined
  const responses = context.mcpReq.inputResponses ?? {}
  const known =
    state === undefined
      ? openCalls.find(fingerprint)
      : await openCalls.resume(String(state), { identity, fingerprint, responses })
  const availableAbilities = () =>
    era === "modern" && !openCalls.hasRoom(identity.agentId) ? noAbilities : request.abilities
  const canWait = notifier.hasProgress && patience.lasts(client)
  const open =
    known ?? beginCall(parts, { ...request, abilities: availableAbilities() }, { canWait, waitMs: parts.waitMs })

  const startedAt = performance.now()
  const end = await waitForCall(open, { ...parts, context, era, notifier, canWait })
  patience.note(client, { tookMs: performance.now() - startedAt, gaveUp: context.mcpReq.signal.aborted })
  if ("questions" in end) {
    openCalls.park(open)
    const inputRequests = Object.fromEntries(
      end.questions.map(({ key, method, params }) => [key, { method, ...(params === undefined ? {} : { params }) }]),
    )
    return {
      required: inputRequired({
        inputRequests: inputRequests as never,
        requestState: openCalls.issueState(open, end.questions),
      }),
    }
  }
  if ("waits" in end) {
    openCalls.park(open)
    return { ticket: end.waits }
  }
  return finish(parts, request, open, end.ended)
}

async function serveOneShot(parts: EndpointParts, request: OneShotRequest): Promise<RequestOutcome | undefined> {
  const { app, openCalls } = parts
  const { identity, abilities } = request
  if (!openCalls.isEmpty && openCalls.find(callFingerprint(app, request)) !== undefined) return undefined
  const isAsked = (abilities.form && identity.person !== undefined) || abilities.sampling || abilities.roots
  if (isAsked && !openCalls.hasRoom(identity.agentId)) return undefined
  const open = beginCall(parts, request, { canWait: false, waitMs: 0 })
  const ended = await waitForCallOnce(open, request.onDisconnect, () => openCalls.hasRoom(identity.agentId))
  if (ended === undefined) {
    openCalls.park(open)
    return undefined
  }
  const outcome = finish(parts, request, open, ended)
  return "ticket" in outcome ? undefined : outcome
}

function finish({ tickets }: EndpointParts, request: ToolCallRequest, open: OpenCall, ended: ToolResult | Ticket) {
  if (isTicket(ended)) {
    tickets.add(request, ended)
    return { ticket: ended }
  }
  open.isDelivered = true
  return { ended }
}

/** Waits for the call if the client lasts long enough or can answer approvals itself; else it may end with a ticket. */
function beginCall(
  { app, tickets, forms }: EndpointParts,
  request: ToolCallRequest,
  { canWait, waitMs }: { canWait: boolean; waitMs: number },
): OpenCall {
  const { identity, abilities, tool, input, sessionId, traceId } = request
  const waitsForAnswer = canWait || (identity.person !== undefined && abilities.form)
  const patience = waitsForAnswer ? {} : { waitMs }
  const options = {
    /** Computed only when another request might join the call. */
    get fingerprint() {
      return callFingerprint(app, request)
    },
    identity,
    abilities,
    forms,
  }
  return new OpenCall(options, async (caller: Caller, signal) => {
    const ticket = tickets.hasNone(identity.agentId) ? undefined : await tickets.redeem(request)
    if (ticket !== undefined) return app.resume(ticket, { ...patience, caller, signal })
    const callRequest = {
      agentId: identity.agentId,
      tool,
      input,
      tokenId: identity.tokenId,
      userId: identity.person,
      sessionId,
      anySession: true,
      traceId,
      signal,
      caller,
    }
    return waitsForAnswer ? app.call(callRequest) : app.call(callRequest, { waitMs })
  })
}

/** The trace id in the W3C traceparent of a request's metadata. */
export function traceIdIn(meta: Record<string, unknown> | undefined): string | undefined {
  const parent = meta?.[TRACEPARENT_META_KEY]
  return typeof parent === "string" ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(parent)?.[1] : undefined
}
