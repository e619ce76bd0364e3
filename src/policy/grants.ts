import { canonicalJson, sha256 } from "../lib/canonical-json.ts"
import type { DecisionInput } from "./rules/decision-input.ts"
import { isForSession, type Grant } from "../core/rule.ts"
import { type Touch } from "../core/touches.ts"
import { normalizeTouch } from "./rules/normalize-touches.ts"

const none: readonly Grant[] = []

/** Remembered answers, by agent and tool. */
export class GrantIndex {
  readonly #byAgent = new Map<string, Map<string, Grant[]>>()

  constructor(grants: Iterable<Grant> = []) {
    for (const grant of grants) {
      let tools = this.#byAgent.get(grant.agentId)
      if (tools === undefined) this.#byAgent.set(grant.agentId, (tools = new Map()))
      if (tools.get(grant.tool)?.push(grant) === undefined) tools.set(grant.tool, [grant])
    }
  }

  /** Also those that have expired or do not match a given call. */
  of(agentId: string, tool: string): readonly Grant[] {
    return this.#byAgent.get(agentId)?.get(tool) ?? none
  }
}

/**
 * Reports whether an answer to an earlier call also answers this one: the same agent, tool, definition and workspace
 * and, depending on its scope, the same session, task or input. A yes covers only touches that were shown; a no covers
 * every call with a touch that was shown.
 */
export function grantMatches(
  grant: Grant,
  { who, tool, input, touches, sessionId, taskId, workspace, at }: DecisionInput,
): boolean {
  if (grant.agentId !== who.agent.id || grant.tool !== tool.name || grant.workspace !== workspace) return false
  if (grant.expiresAt !== null && grant.expiresAt <= at) return false
  if (isForSession(grant.scope) && grant.sessionId !== sessionId) return false
  if (grant.scope === "task" && (taskId === undefined || grant.taskId !== taskId)) return false
  if (grant.definitionHash !== tool.definitionHash) return false
  const shown = (touch: Touch) => grant.touches.some(({ kind, what }) => kind === touch.kind && what === touch.what)
  // A no also covers the same path written in another way.
  const meant = (touch: Touch) => {
    const { kind, text } = normalizeTouch(touch, workspace)
    return grant.touches.some((one) => one.kind === kind && normalizeTouch(one, workspace).text === text)
  }
  const { list } = touches
  const touching = grant.verdict === "allow" ? list.every(shown) : list.length === 0 || list.some(meant)
  if (!touching) return false
  return grant.scope !== "input-session" || grant.inputDigest === sha256(canonicalJson(input))
}
