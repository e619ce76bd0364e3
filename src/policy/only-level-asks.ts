import type { Verdict } from "../core/verdict.ts"
import type { Touches } from "../core/touches.ts"
import type { RegisteredTool } from "../core/tool.ts"

/** Reports whether only the tool's level asks about this call, so that a grant or an allow rule could lift it. */
export function onlyLevelAsks(tool: RegisteredTool, verdict: Verdict, touches: Touches): boolean {
  return (
    verdict.verdict === "ask" &&
    tool.question === undefined &&
    touches.proved &&
    verdict.reasons.every((reason) => reason.binding !== true)
  )
}
