import { canonicalJson, sha256 } from "../model/plain.ts"
import type { Facts } from "../model/ports.ts"
import type { Grant, Touch } from "../model/rule.ts"
import { placeOf } from "./places.ts"

const none: readonly Grant[] = []

/** Remembered answers by the agent and the tool they are for. */
export class GrantIndex {
  readonly #byAgent = new Map<string, Map<string, Grant[]>>()

  constructor(grants: Iterable<Grant> = []) {
    for (const grant of grants) {
      let tools = this.#byAgent.get(grant.agentId)
      if (tools === undefined) this.#byAgent.set(grant.agentId, (tools = new Map()))
      if (tools.get(grant.tool)?.push(grant) === undefined) tools.set(grant.tool, [grant])
    }
  }

  /** Also those that no longer fit. */
  of(agentId: string, tool: string): readonly Grant[] {
    return this.#byAgent.get(agentId)?.get(tool) ?? none
  }
}

/**
 * Whether an answer to an earlier call is one to this call too: the same agent, tool and definition, workspace, and
 * where it was given for them session and input. A yes covers no touch that was not shown; a no covers every call that
 * has one that was.
 */
export function fits(grant: Grant, { who, tool, input, touches, sessionId, workspace, at }: Facts): boolean {
  if (grant.agentId !== who.agent.id || grant.tool !== tool.name || grant.workspace !== workspace) return false
  if (grant.expiresAt !== null && grant.expiresAt <= at) return false
  if (grant.scope !== "tool-always" && grant.sessionId !== sessionId) return false
  if (grant.definitionHash !== tool.definitionHash) return false
  const shown = (touch: Touch) => grant.touches.some(({ kind, what }) => kind === touch.kind && what === touch.what)
  // A no also covers the same path written in another way.
  const meant = (touch: Touch) => {
    const { kind, text } = placeOf(touch, workspace)
    return grant.touches.some((one) => one.kind === kind && placeOf(one, workspace).text === text)
  }
  const { list } = touches
  const touching = grant.verdict === "allow" ? list.every(shown) : list.length === 0 || list.some(meant)
  if (!touching) return false
  return grant.scope !== "input-session" || grant.inputDigest === sha256(canonicalJson(input))
}
