import type { RegisteredTool } from "../../model/tool.ts"
import { defineCheck, deny } from "../check.ts"
import { modeFix } from "../fix-text.ts"
import { readsOnly } from "../reads-only.ts"

/** In a session with the mode plan only calls that change nothing may run. Asking a person changes nothing. */
export const planModeCheck = defineCheck({
  name: "mode",
  stage: "deny",
  needs: "mode",
  source: ({ sessionId }) => `session ${sessionId}`,
  look({ tool, input, mode, sessionId }) {
    if (mode !== "plan" || readsOnly(tool, input) || (tool.sameNameTools ?? [tool]).every(changesNothing))
      return undefined
    return deny("plan_mode", undefined, { fix: () => modeFix(sessionId) })
  },
  sentences: {
    plan_mode: () =>
      "The session is in plan mode, in which only tools that read may run. Finish the plan, and make this call later.",
  },
  passes: ({ mode }) => `The session's mode is ${mode}.`,
})

function changesNothing({ effect, kind }: RegisteredTool): boolean {
  return effect === "none" || effect === "read" || kind === "interactive"
}
