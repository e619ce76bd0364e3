import type { Explanation, WhyRequest } from "../policy/explanation.ts"
import { Ending } from "../core/ending.ts"
import type { AgentView } from "../core/organisation.ts"
import type { Ports } from "./state/ports.ts"
import type { Reason } from "../core/reason.ts"
import type { RegisteredTool } from "../core/tool.ts"
import type { PolicySource } from "../policy/decide/policy-source.ts"
import { shellWord } from "../lib/shell-word.ts"
import { loadGuards, checkTouches, declaredTouches } from "../policy/touches.ts"
import { resolve } from "./steps/resolve.ts"
import { checkInput, validate } from "./steps/validate.ts"
import { beginCall, type ActiveCall } from "./state/active-call.ts"

/** Explains how a call would be decided, without making it: the same steps run, and nothing is stored or counted. */
export async function explainCall(request: WhyRequest, ports: Ports, policy: PolicySource): Promise<Explanation> {
  const call = beginCall({ input: {}, ...request }, ports, {})
  const { who, receivedAt: at, sessionId } = call
  const about = { agentId: request.agentId, policy: policy.version }
  try {
    const tool = resolve(call, ports)
    const { workspace, levelOrder } = ports.settings
    const limit = who === undefined ? { ok: true as const } : await ports.limits.check(who, tool, at)
    const asked = (input: unknown, declared = declaredTouches(tool, input, call)) => ({
      agentId: request.agentId,
      who,
      tool,
      input,
      ...checkTouches(declared, { tool, input }, ports.guards, call.request),
      limit,
      sessionId,
      taskId: call.request.taskId,
      workspace,
      at,
      commandStem: (line: string) => ports.guards.commandStem(line),
    })
    const input = call.alias === undefined ? (call.request.input ?? {}) : nativeInput(call, tool)
    const declared = declaredTouches(tool, input, call)
    await loadGuards(declared, ports.guards)
    const explained = policy.explain(asked(input, declared), levelOrder)
    if (explained.verdict === "deny" && !isAboutInput.has(explained.code)) return explained
    return policy.explain(asked(checkInput(tool, input)), levelOrder)
  } catch (error) {
    if (!(error instanceof Ending)) throw error
    return refused(error, request.tool, who, about)
  }
}

/** The input that the tool itself takes, where the call names it by an alias. */
function nativeInput(call: ActiveCall, tool: RegisteredTool): unknown {
  validate(call, tool)
  return call.request.input
}

const isAboutInput = new Set<string | undefined>([
  "permission_denied",
  "path_outside_workspace",
  "command_denied",
  "host_denied",
])

/** A call that ends before any check looks at it: there is no such tool, or the input is not valid. */
function refused(
  { code, message, details }: Ending,
  tool: string,
  who: AgentView | undefined,
  about: { agentId: string; policy: string },
): Explanation {
  const isUnknown = code === "unknown_tool"
  const reason: Reason = {
    check: isUnknown ? "registry" : "schema",
    code,
    source: isUnknown ? "the list of tools" : `tool ${tool}`,
    sentence: message,
  }
  const fix = fixFor(isUnknown, tool, who, about.agentId)
  return {
    ...about,
    tool,
    verdict: "deny",
    code,
    reasons: [reason],
    checks: [{ ...reason, verdict: "deny", fix }],
    touches: { list: [], proved: true },
    approvers: [],
    release: "never",
    change: [fix],
    problems: details.metadata?.["problems"] as readonly string[] | undefined,
  }
}

function fixFor(isUnknown: boolean, tool: string, who: AgentView | undefined, agentId: string): string {
  const agent = shellWord(agentId)
  if (!isUnknown) return `Correct the input; qm tools show ${shellWord(tool)} --agent ${agent} shows what it takes`
  return who === undefined ? `qm agents create ${agent} --role <role>` : `qm tools list --agent ${agent}`
}
