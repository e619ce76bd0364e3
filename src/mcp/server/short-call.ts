import type { ServerResponse } from "node:http"
import type { App } from "../../model/app.ts"
import type { CallRequest } from "../../model/call.ts"
import type { Ticket, ToolResult } from "../../model/result.ts"
import { ableOf, type Can } from "./capabilities.ts"
import type { McpDoor } from "./door.ts"
import { OpenCall, type Waiting } from "./open-call.ts"
import type { Speaker } from "./speaker.ts"
import { sameCall } from "./tickets.ts"
import { whenGone } from "./web.ts"

/** How long a call that waits has to become a ticket. */
const soonMs = 25

export interface ShortCall {
  readonly speaker: Speaker
  readonly tool: string
  readonly input: Record<string, unknown>
  readonly can: Can
  readonly sessionId: string | undefined
  readonly traceId: string | undefined
}

/**
 * Makes a call for a client that gets one answer and nothing before it. A ticket when it waits for a person elsewhere;
 * undefined when the client itself is to be asked: then the call goes on, parked, and whoever can ask finds it there.
 */
export function shortCall(
  app: App,
  door: McpDoor,
  call: ShortCall,
  response: ServerResponse,
): Promise<ToolResult | Ticket | undefined> {
  const { speaker, can } = call
  const canAnswer = can.form && speaker.person !== undefined
  if (!canAnswer && !can.sampling && !can.roots) return unasked(app, door, call, response)
  return door.open.hasRoom(speaker.agentId) ? askable(app, door, call, canAnswer, response) : Promise.resolve(undefined)
}

/** For a client that cannot be asked. What the tool itself asks may still wait for a person elsewhere. */
function unasked(
  app: App,
  door: McpDoor,
  call: ShortCall,
  response: ServerResponse,
): Promise<ToolResult | Ticket | undefined> {
  const { speaker, can } = call
  const controller = new AbortController()
  let isParked = false
  whenGone(response, () => void (isParked || controller.abort()))
  return new Promise((resolve, reject) => {
    const onWaiting = (waiting: Waiting) => {
      // A call that waits itself has its ticket by then.
      setTimeout(() => {
        if (isOver || isParked || !door.open.hasRoom(speaker.agentId)) return
        isParked = true
        const open = new OpenCall({ same: sameCall(app, call), speaker, can }, (_caller, signal) => {
          signal.addEventListener("abort", () => controller.abort(), { once: true })
          return ended
        })
        open.waiting = waiting
        door.open.park(open)
        resolve(undefined)
      }, soonMs)
    }
    let isOver = false
    const caller = { able: ableOf(can), onWaiting }
    const ended = app.submit({ ...requestOf(call, controller.signal), caller }, { waitMs: 0 })
    ended.then((outcome) => {
      isOver = true
      resolve(outcome)
    }, reject)
  })
}

async function askable(
  app: App,
  door: McpDoor,
  call: ShortCall,
  canAnswer: boolean,
  response: ServerResponse,
): Promise<ToolResult | Ticket | undefined> {
  const { speaker, can } = call
  const open = new OpenCall({ same: sameCall(app, call), speaker, can }, (caller, signal) => {
    const request = { ...requestOf(call, signal), caller }
    return canAnswer ? app.call(request) : app.submit(request, { waitMs: 0 })
  })
  let isParked = false
  whenGone(response, () => void (isParked || open.cancel()))
  const waits = new Promise<undefined>((resolve) => {
    const park = () => {
      isParked = true
      door.open.park(open)
      resolve(undefined)
    }
    open.watch({ onOutput: () => {}, onAsked: park, onWaiting: () => void (canAnswer && park()) })
  })
  return Promise.race([open.ended, waits])
}

function requestOf({ speaker, tool, input, sessionId, traceId }: ShortCall, signal: AbortSignal): CallRequest {
  const { agentId, tokenId, person: userId } = speaker
  return { agentId, tool, input, tokenId, userId, sessionId, anySession: true, traceId, signal }
}
