import type { AuditReader, ExportedCall, Simulation } from "../model/app.ts"
import type { AuditFilter, Policy, Ports, Verdict } from "../model/ports.ts"
import type { Rule, RuleFlaw } from "../model/rule.ts"
import { hiddenBecause } from "../policy/visible.ts"
import { guardsReady, lookAt } from "./looked.ts"

/** Decides recorded calls again, by the rules that count and by others, and tells where the two differ. */
export async function simulate(
  proposed: { rules: readonly Rule[]; flaws: readonly RuleFlaw[] },
  filter: AuditFilter,
  { ports, policyWith, audit }: { ports: Ports; policyWith(rules: readonly Rule[]): Policy; audit: AuditReader },
): Promise<Simulation> {
  const other = policyWith(proposed.rules)
  const changed: Simulation["changed"][number][] = []
  let looked = 0
  let uncertain = 0
  for await (const call of audit.export(filter)) {
    await readyFor(call, ports)
    const before = decideAgain(call, ports.policy, ports)
    const after = decideAgain(call, other, ports)
    if (before === undefined || after === undefined) continue
    looked++
    if (call.inputDigest !== "") uncertain++
    if (before.verdict === after.verdict) continue
    const { callId, at, agentId, tool } = call
    const { verdict, reasons } = after
    changed.push({ callId, at, agentId, tool, before: before.verdict, after: verdict, reasons })
  }
  return { looked, uncertain, flaws: proposed.flaws, changed }
}

/** The verdict on a recorded call as things stand; undefined when its agent or tool is no more, or its input was cut. */
function decideAgain(
  call: ExportedCall,
  policy: Policy,
  ports: Ports,
): Pick<Verdict, "verdict" | "reasons"> | undefined {
  const who = ports.organisation.view(call.agentId)
  const tool = who && ports.tools.resolve(call.tool, who)
  if (who === undefined || tool === undefined) return undefined
  const hidden = hiddenBecause(tool, who, ports.tools, ports.settings.levelOrder, policy)
  if (hidden !== undefined) return { verdict: "deny", reasons: [hidden] }
  const input = readInput(call.input)
  if (input === undefined) return undefined
  return policy.decide({
    who,
    tool,
    input,
    ...lookAt(tool, input, ports.guards, {}),
    limit: { ok: true },
    sessionId: call.sessionId,
    workspace: ports.settings.workspace,
    at: call.startedAt,
  })
}

async function readyFor(call: ExportedCall, ports: Ports): Promise<void> {
  const tool = ports.tools.resolve(call.tool, ports.organisation.view(call.agentId))
  if (tool?.touches !== undefined) await guardsReady(tool, readInput(call.input), ports.guards)
}

function readInput(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
