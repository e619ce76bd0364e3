import type { CallRequest } from "../model/call.ts"
import type { Ports } from "../model/ports.ts"
import type { Ticket, ToolResult } from "../model/result.ts"
import { allowed } from "./allowed.ts"
import { approve } from "./approve.ts"
import { record } from "./record.ts"
import { release } from "./release.ts"
import { resolve } from "./resolve.ts"
import { run } from "./run.ts"
import { validate } from "./validate.ts"
import { visible } from "./visible.ts"
import { beginWalk, type WalkOptions } from "./walk.ts"

/**
 * The walk of a call, from any door. Every call takes these steps in this order and there is no other way to a tool.
 * A step ends the call by throwing `Ending`, which only `record` catches.
 */
export function callTool(request: CallRequest, ports: Ports, options?: WalkOptions): Promise<ToolResult | Ticket> {
  const walk = beginWalk(request, ports, options ?? {})
  return record(walk, ports, async () => {
    const tool = resolve(walk, ports) //                          name → tool, version, layer
    visible(walk, tool, ports) //                                 all that needs no input
    const input = validate(walk, tool) //                         every problem at once
    const verdict = await allowed(walk, tool, input, ports) //    all that needs the input
    const agreed = await approve(walk, tool, input, verdict, ports) // a person, where one must agree
    const outcome = await run(walk, agreed.tool, agreed.input, ports, callTool) // inside limits; its start is kept first
    return release(walk, agreed.tool, agreed.input, outcome, ports) // a person, where the result may be held back
  })
}
