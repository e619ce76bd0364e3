import type { SessionMode } from "../model/organisation.ts"
import type { Facts } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { RuleTools } from "./conditions.ts"
import { isPath, placesOf } from "./places.ts"
import { readsOnly } from "./reads-only.ts"

/** *plan* denies what could change something, or hides what could. Asking a person is no change. */
export function deniedByMode(mode: SessionMode, { tool, input, sessionId }: Facts): Reason | undefined {
  const harmless = readsOnly(tool, input) || (tool.together ?? [tool]).every(changesNothing)
  if (mode !== "plan" || harmless) return undefined
  return {
    voice: "mode",
    source: `session ${sessionId}`,
    sentence: `The session is in plan mode, in which only tools that read may run. Plan on, and leave ${tool.name} for later.`,
  }
}

/** *edits* allows writes of the workspace's tools, where it is proved that they touch no file outside of it. */
export function allowedByMode(
  mode: SessionMode,
  { tool, touches, workspace, sessionId }: Facts,
  tools: Pick<RuleTools, "inGroups">,
): Reason | undefined {
  if (mode !== "edits" || !(tool.together ?? [tool]).every(({ effect }) => effect === "write")) return undefined
  if (!tools.inGroups(tool, ["workspace"])) return undefined
  const { list, proved } = placesOf(touches, workspace)
  if (!proved || list.some(({ kind, inside }) => isPath(kind) && inside === undefined)) return undefined
  return {
    voice: "mode",
    source: `session ${sessionId}`,
    sentence: "The session is in edits mode, in which the workspace is changed without asking.",
  }
}

function changesNothing({ effect, kind }: RegisteredTool): boolean {
  return effect === "none" || effect === "read" || kind === "interactive"
}
