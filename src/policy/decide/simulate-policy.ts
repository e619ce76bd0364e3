import { setImmediate as otherWork } from "node:timers/promises"
import { withMatchingLimit } from "../../lib/glob.ts"
import { TooMuchWork } from "../../lib/too-much-work.ts"
import type { AuditReader, ExportedCall } from "../../audit/audit-reader.ts"
import type { Simulation, SimulationLimits } from "../rule-admin.ts"
import type { AuditFilter } from "../../store/port.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { Policy } from "./policy.ts"
import type { DecisionPorts } from "./ports.ts"
import type { Verdict } from "../../core/verdict.ts"
import type { Rule, RuleFlaw } from "../../core/rule.ts"
import { hiddenBecause } from "./visible.ts"
import { loadGuards, checkTouches, declaredTouches } from "../touches.ts"

/** Other work gets a turn this often, in milliseconds. */
const turnMs = 20

/** Decides recorded calls again with the current rules and with proposed ones, and returns where the two differ. */
export async function simulatePolicy(
  proposed: { rules: readonly Rule[]; flaws: readonly RuleFlaw[] },
  filter: AuditFilter,
  {
    ports,
    policyWith,
    audit,
  }: { ports: DecisionPorts; policyWith(rules: readonly Rule[]): Policy; audit: AuditReader },
  { signal, mostMs = Number.POSITIVE_INFINITY, mostSteps = Number.POSITIVE_INFINITY }: SimulationLimits = {},
): Promise<Simulation> {
  const start = performance.now()
  let turn = start
  const proposedPolicy = policyWith(proposed.rules)
  const changed: Simulation["changed"][number][] = []
  let decided = 0
  let uncertain = 0
  for await (const call of audit.export(filter)) {
    const now = performance.now()
    if (now - start > mostMs)
      throw new TooMuchWork(
        `Deciding the calls again took longer than ${mostMs / 1000} seconds. Look at fewer calls, with a later 'since', or try fewer rules.`,
      )
    if (now - turn > turnMs) {
      await otherWork()
      signal?.throwIfAborted()
      turn = performance.now()
    }
    const facts = await factsOf(call, ports)
    if (facts === undefined) continue
    const before = decideAgain(facts, ports.policy, ports)
    const after = withMatchingLimit(mostSteps, () => decideAgain(facts, proposedPolicy, ports))
    if (before === undefined || after === undefined) continue
    decided++
    if (call.inputDigest !== "") uncertain++
    if (before.verdict === after.verdict) continue
    const { callId, at, agentId, tool, input, code } = call
    const { verdict, reasons } = after
    changed.push({ callId, at, agentId, tool, input, code, before: before.verdict, after: verdict, reasons })
  }
  return { looked: decided, uncertain, flaws: proposed.flaws, changed }
}

/** The fields of a recorded call that are read to decide it again. */
export type DecidedCall = Pick<ExportedCall, "agentId" | "tool" | "input" | "sessionId" | "taskId" | "startedAt">

/** The facts of a recorded call as they are now; undefined when its agent or tool no longer exists. */
export async function factsOf(call: DecidedCall, ports: DecisionPorts): Promise<DecisionInput | undefined> {
  const who = ports.organisation.view(call.agentId)
  const tool = who && ports.tools.resolve(call.tool, who)
  const input = readInput(call.input)
  if (who === undefined || tool === undefined) return undefined
  const declared = declaredTouches(tool, input, call)
  await loadGuards(declared, ports.guards)
  return {
    who,
    tool,
    input,
    ...checkTouches(declared, { tool, input }, ports.guards, {}),
    limit: { ok: true },
    sessionId: call.sessionId,
    taskId: call.taskId === "" ? undefined : call.taskId,
    workspace: ports.settings.workspace,
    at: call.startedAt,
  }
}

/** The verdict on it; undefined when its input was cut in the audit log, so that it cannot be decided. */
export function decideAgain(
  facts: DecisionInput,
  policy: Policy,
  ports: DecisionPorts,
): Pick<Verdict, "verdict" | "reasons"> | undefined {
  const hidden = hiddenBecause(facts.tool, facts.who, ports.tools, ports.settings.levelOrder, policy)
  if (hidden !== undefined) return { verdict: "deny", reasons: [hidden] }
  return facts.input === undefined ? undefined : policy.decide(facts)
}

function readInput(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
