import { isPath } from "../../core/touches.ts"
import { allow, defineCheck } from "../check.ts"
import { modeFix } from "../fix-text.ts"
import { normalizeTouches } from "../rules/normalize-touches.ts"

/** In a session with the mode edits the workspace's tools write without asking, when it is proved that no file outside is touched. */
export const editsModeCheck = defineCheck({
  name: "mode",
  stage: "loosen",
  needs: "mode",
  source: ({ sessionId }) => `session ${sessionId}`,
  look({ who, tool, touches, workspace, sessionId, mode, tools }) {
    if (mode !== "edits" || !(tool.sameNameTools ?? [tool]).every(({ effect }) => effect === "write")) return undefined
    if (!tools.inGroups(tool, ["workspace"])) return undefined
    const { list, proved } = normalizeTouches(touches, workspace)
    if (!proved || list.some(({ kind, inside }) => isPath(kind) && inside === undefined)) return undefined
    return allow("edits_mode", undefined, { fix: () => modeFix(who.agent.id, sessionId) })
  },
  sentences: {
    edits_mode: {
      en: () => "The session is in edits mode, in which the workspace is changed without asking.",
      zh: "会话处于编辑模式，修改工作区无需询问。",
    },
  },
})
