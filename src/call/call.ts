import type { CallRequest, CallRow } from "../core/call.ts"
import type { Ports } from "./state/ports.ts"
import type { Ticket, ToolResult } from "../core/result.ts"
import { allowed } from "./steps/allowed.ts"
import { approve } from "./steps/approve.ts"
import { noteAfter, noteReported } from "./steps/note-changes.ts"
import { record } from "./steps/record.ts"
import { release } from "./steps/release.ts"
import { resolve } from "./steps/resolve.ts"
import { run, type RunOutcome } from "./steps/run.ts"
import { maskReported, reportedCall } from "./stored/reported.ts"
import { validate } from "./steps/validate.ts"
import { visible } from "./steps/visible.ts"
import { waitForBatch } from "./steps/wait-for-batch.ts"
import { beginCall, type CallOptions } from "./state/active-call.ts"

/**
 * Ends a call whose tool its caller has run. What the caller reports takes the place of the run, and the result is
 * released like any other.
 */
export function endElsewhere(
  row: CallRow,
  outcome: RunOutcome,
  ports: Ports,
  options: Pick<CallOptions, "waitMs"> = {},
): Promise<ToolResult | Ticket> {
  const { request, ...reported } = reportedCall(row, options)
  const call = Object.assign(beginCall(request, ports, reported.options), reported.state)
  return record(call, ports, async () => {
    const tool = resolve(call, ports)
    const input = await maskReported(call, tool, ports)
    await noteReported(call, ports)
    return release(call, tool, input, outcome, ports)
  })
}

/**
 * Makes one tool call. Every interface calls this function, and there is no other way to run a tool.
 *
 * A step ends the call by throwing an `Ending`. Only `record` catches it: it writes the end of every call to the audit
 * log before the caller gets an answer.
 */
export function callTool(request: CallRequest, ports: Ports, options?: CallOptions): Promise<ToolResult | Ticket> {
  const call = beginCall(request, ports, options ?? {})
  return record(call, ports, async () => {
    // Find the tool, version and layer that the name means.
    const tool = resolve(call, ports)
    // May this agent know of the tool?
    visible(call, tool, ports)
    // Does the input fit the tool's schema?
    const input = validate(call, tool)
    // Is this agent allowed to call the tool with this input: allow, ask or deny?
    const verdict = await allowed(call, tool, input, ports)
    // If the verdict is "ask", wait until a person approves. The person may edit the input.
    const approved = await approve(call, tool, input, verdict, ports)
    // In a batch, a call with effects waits until every question of the batch is answered.
    if (call.batch !== undefined) await waitForBatch(call, call.batch, approved, ports)
    // Write the start to the audit log and run the tool inside its limits.
    const outcome = await run(call, approved.tool, approved.input, ports, callTool)
    // Note what it changed, where nobody was asked, so that it can be undone.
    const noting = noteAfter(call, approved.tool, ports)
    if (noting !== undefined) await noting
    // If the result must be approved too, wait until a person releases it.
    return release(call, approved.tool, approved.input, outcome, ports)
  })
}
