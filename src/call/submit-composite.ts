import type { CallRequest } from "../core/call.ts"
import { newId } from "../lib/new-id.ts"
import { WaitCounter } from "../lib/wait-counter.ts"
import type { Ports } from "./state/ports.ts"
import type { Ticket, ToolResult } from "../core/result.ts"
import { ticketOf } from "./stored/rows.ts"
import type { CallTool } from "./state/active-call.ts"

/**
 * Submits a call whose tool makes calls itself, such as run_pipeline. It waits for people while all its sub-calls do. After
 * `waitMs` its caller gets a ticket, and the call goes on in this process. It is stored from its start, by a key of its own.
 */
export async function submitComposite(
  request: CallRequest,
  ports: Ports,
  callTool: CallTool,
  waitMs: number,
): Promise<{ first: ToolResult | Ticket; ended: Promise<unknown> }> {
  const callId = newId()
  const patience = new Patience(waitMs)
  const ended = callTool({ key: callId, ...request }, ports, { callId, waitMs, clock: patience })
  const isOver = await Promise.race([ended.then(() => true), patience.over.then(() => false)])
  patience.stop()
  const row = isOver ? undefined : await ports.calls.get(callId)
  return { first: row === undefined || row.state === "ended" ? await ended : ticketOf(row), ended }
}

/** Is over when the time has passed and everything waits for people. */
class Patience extends WaitCounter {
  readonly over: Promise<void>
  #end: () => void = () => {}
  #isLate = false
  readonly #timer: NodeJS.Timeout | undefined

  constructor(milliseconds: number) {
    super()
    this.over = new Promise((resolve) => (this.#end = resolve))
    this.#timer = setTimeout(() => {
      this.#isLate = true
      if (this.areAllWaiting) this.#end()
    }, milliseconds)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  protected override onChange(areAllWaiting: boolean): void {
    if (areAllWaiting && this.#isLate) this.#end()
  }
}
