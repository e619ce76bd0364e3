import type { RegisteredTool } from "../../core/tool.ts"
import { defineCheck, deny } from "../check.ts"
import { modeFix } from "../fix-text.ts"
import { readsOnly } from "../reads-only.ts"

/** While an agent is in the mode plan only calls that change nothing may run. Asking a person changes nothing. */
export const planModeCheck = defineCheck({
  name: "mode",
  stage: "deny",
  needs: "mode",
  source: ({ who }) => `agent ${who.agent.id}`,
  look({ who, tool, input, mode }) {
    if (mode !== "plan" || readsOnly(tool, input) || (tool.sameNameTools ?? [tool]).every(changesNothing))
      return undefined
    return deny("plan_mode", undefined, { fix: () => modeFix(who.agent.id) })
  },
  sentences: {
    plan_mode: {
      en: () =>
        "The agent is in plan mode, in which only tools that read may run. Finish the plan, and make this call later.",
      zh: "智能体处于计划模式，只有读取类工具可以运行。",
    },
  },
  passes: { en: ({ mode }) => `The session's mode is ${mode}.`, zh: "会话模式没有异议。" },
})

function changesNothing({ effect, kind }: RegisteredTool): boolean {
  return effect === "none" || effect === "read" || kind === "interactive"
}
