import type { Explanation } from "../model/app.ts"
import { Ending } from "../model/ending.ts"
import type { AgentView } from "../model/organisation.ts"
import type { Ports } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { PolicyBook } from "../policy/book.ts"
import { guardsReady, lookAt } from "./looked.ts"
import { resolve } from "./resolve.ts"
import { check, validate } from "./validate.ts"
import { beginWalk, type Walk } from "./walk.ts"

/** What would become of a call, and why, without making it: the same steps, and nothing is kept or counted. */
export async function why(
  request: { agentId: string; tool: string; input?: unknown; sessionId?: string | undefined },
  ports: Ports,
  policy: PolicyBook,
): Promise<Explanation> {
  const walk = beginWalk({ input: {}, ...request }, ports, {})
  const { who, receivedAt: at, sessionId } = walk
  const about = { agentId: request.agentId, policy: policy.version }
  try {
    const tool = resolve(walk, ports)
    const { workspace, levelOrder } = ports.settings
    const limit = who === undefined ? { ok: true as const } : await ports.limits.check(who, tool, at)
    const asked = (input: unknown) => ({
      agentId: request.agentId,
      who,
      tool,
      input,
      ...lookAt(tool, input, ports.guards, {}),
      limit,
      sessionId,
      workspace,
      at,
    })
    const { alias } = walk
    const given = alias === undefined ? (request.input ?? {}) : nativeOf(walk, tool)
    await guardsReady(tool, given, ports.guards)
    const explained = policy.explain(asked(given), levelOrder)
    if (explained.verdict === "deny" && !isAboutInput.has(explained.code)) return explained
    return policy.explain(asked(check(tool, given)), levelOrder)
  } catch (error) {
    if (!(error instanceof Ending)) throw error
    return refused(error, request.tool, who, about)
  }
}

function nativeOf(walk: Walk, tool: RegisteredTool): unknown {
  validate(walk, tool)
  return walk.request.input
}

const isAboutInput = new Set<string | undefined>([
  "permission_denied",
  "path_outside_workspace",
  "command_denied",
  "host_denied",
])

/** A call that ends before anyone decides: no such tool, or an input nobody can use. */
function refused(
  { code, message }: Ending,
  tool: string,
  who: AgentView | undefined,
  about: { agentId: string; policy: string },
): Explanation {
  const voice = code === "unknown_tool" ? "registry" : "schema"
  const reason: Reason = {
    voice,
    source: voice === "registry" ? "the list of tools" : `tool ${tool}`,
    sentence: message,
  }
  const change =
    voice === "schema"
      ? ["Correct the input."]
      : [who === undefined ? `Create the agent '${about.agentId}'.` : "Use the name of a tool this agent has."]
  return {
    ...about,
    tool,
    verdict: "deny",
    code,
    reasons: [reason],
    heard: [{ ...reason, says: "deny" }],
    touches: { list: [], proved: true },
    approvers: [],
    release: "never",
    change,
  }
}
