import {
  inputRequired,
  TRACEPARENT_META_KEY,
  type InputRequiredResult,
  type ServerContext,
} from "@modelcontextprotocol/server"
import type { LoggingLevel } from "@modelcontextprotocol/server"
import type { App } from "../../model/app.ts"
import type { Caller } from "../../model/call.ts"
import { isTicket, type Ticket, type ToolResult } from "../../model/result.ts"
import { cannot, type Can } from "./capabilities.ts"
import { OpenCall } from "./open-call.ts"
import type { OpenCalls } from "./open-calls.ts"
import { attend } from "./round.ts"
import type { Speaker } from "./speaker.ts"
import { teller } from "./tell.ts"
import { sameCall, type Tickets } from "./tickets.ts"

/** What every conversation of a door shares. */
export interface DoorParts {
  readonly app: App
  readonly open: OpenCalls
  readonly tickets: Tickets
  readonly waitMs: number
  readonly progressMs: number
}

/** One request of a client that comes to a call. */
export interface Talk {
  readonly speaker: Speaker
  readonly era: "legacy" | "modern"
  readonly sessionId?: string | undefined
  readonly context: ServerContext
  readonly can: Can
  /** From which level on the session wants log messages. */
  readonly level?: LoggingLevel | undefined
  readonly tool: string
  readonly input: unknown
}

/** How a request ends: the call has, the client must answer something first, or somebody else must. */
export type Said = { ended: ToolResult } | { ticket: Ticket } | { required: InputRequiredResult }

/** Makes the call, or goes on with the one this request belongs to, and stays with it as long as the client can. */
export async function converse(parts: DoorParts, talk: Talk): Promise<Said> {
  const { app, open: calls, tickets } = parts
  const { speaker, context, era, tool, input } = talk
  const same = sameCall(app, talk)
  const tell = teller(context, era, talk.level)
  const state: unknown = era === "modern" ? context.mcpReq.requestState() : undefined
  const responses = context.mcpReq.inputResponses ?? {}
  const known = state === undefined ? calls.find(same) : await calls.resume(String(state), { speaker, same, responses })
  const open = known ?? begin(parts, talk, same, tell.hasProgress)

  const ended = await attend(open, { ...parts, context, era, tell })
  if ("asked" in ended) {
    calls.park(open)
    const inputRequests = Object.fromEntries(
      ended.asked.map(({ key, method, params }) => [key, { method, ...(params === undefined ? {} : { params }) }]),
    )
    return {
      required: inputRequired({ inputRequests: inputRequests as never, requestState: calls.state(open, ended.asked) }),
    }
  }
  if ("waits" in ended) {
    calls.park(open)
    return { ticket: ended.waits }
  }
  if (isTicket(ended.ended)) {
    tickets.keep({ speaker, tool, input }, ended.ended)
    return { ticket: ended.ended }
  }
  open.isDelivered = true
  return { ended: ended.ended }
}

/** A call that can be asked about, or told of, is stayed with; any other may be left with a ticket. */
function begin(parts: DoorParts, talk: Talk, same: string, hasProgress: boolean): OpenCall {
  const { app, tickets, waitMs } = parts
  const { speaker, context, era, tool, input, sessionId } = talk
  const can = era === "modern" && !parts.open.hasRoom(speaker.agentId) ? cannot : talk.can
  const stays = hasProgress || (speaker.person !== undefined && can.form)
  const patience = stays ? {} : { waitMs }
  return new OpenCall({ same, speaker, can }, async (caller: Caller, signal) => {
    const ticket = await tickets.redeem({ speaker, tool, input })
    if (ticket !== undefined) return app.resume(ticket, { ...patience, caller, signal })
    const request = {
      agentId: speaker.agentId,
      tool,
      input,
      tokenId: speaker.tokenId,
      userId: speaker.person,
      sessionId,
      anySession: true,
      traceId: traceOf(context),
      signal,
      caller,
    }
    return stays ? app.call(request) : app.submit(request, { waitMs })
  })
}

/** The trace a request is a part of, as W3C's traceparent names it. */
function traceOf({ mcpReq }: ServerContext): string | undefined {
  const envelope = mcpReq.envelope as Record<string, unknown> | undefined
  const parent = envelope?.[TRACEPARENT_META_KEY] ?? mcpReq._meta?.[TRACEPARENT_META_KEY]
  return typeof parent === "string" ? /^[0-9a-f]{2}-([0-9a-f]{32})-/.exec(parent)?.[1] : undefined
}
