import type { SessionMode } from "../model/organisation.ts"
import type { Facts } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RuleTools } from "./conditions.ts"

/** *plan* denies what could change something. Asking a person is no change. */
export function deniedByMode(mode: SessionMode, { tool, sessionId }: Facts): Reason | undefined {
  if (mode !== "plan" || tool.effect === "none" || tool.effect === "read" || tool.kind === "interactive")
    return undefined
  return {
    voice: "mode",
    source: `session ${sessionId}`,
    sentence: `The session is in plan mode, in which only tools that read may run. Plan on, and leave ${tool.name} for later.`,
  }
}

/** *edits* allows writes of the workspace's tools, where it is proved what they touch. */
export function allowedByMode(
  mode: SessionMode,
  { tool, touches, sessionId }: Facts,
  tools: Pick<RuleTools, "inGroups">,
): Reason | undefined {
  if (mode !== "edits" || tool.effect !== "write" || !touches.proved || !tools.inGroups(tool, ["workspace"]))
    return undefined
  return {
    voice: "mode",
    source: `session ${sessionId}`,
    sentence: "The session is in edits mode, in which the workspace is changed without asking.",
  }
}
