import { counted } from "../../../../lib/counted.ts"
import type { Simulation } from "../../../../policy/rule-admin.ts"
import { filterOf, wholeAgent, type AuditFlags } from "../audit/audit-filter.ts"
import type { CliContext } from "../../common/context.ts"
import { showList } from "../../common/listing.ts"
import { printResult, printMessage } from "../../common/output.ts"
import { readRules } from "./rule-file.ts"
import { flawText } from "./rule-text.ts"
import { waitForServers } from "../../common/wait-for-servers.ts"
import { withApp } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"
import { orCannotDo } from "../../common/usage.ts"

/** Decides logged calls again with the rules of a file. Exits with 1 if a rule is malformed. */
export async function simulateRules(context: CliContext, flags: AuditFlags & { rules: string }): Promise<number> {
  const filter = filterOf(context, flags)
  const given = await readRules(context, flags.rules)
  return withApp(context, { readOnly: true }, async ({ rules, mcp, org }) => {
    await waitForServers(context, { mcp })
    const simulation = await orCannotDo(rules.simulate(given, wholeAgent(context, { org }, filter)))
    for (const flaw of simulation.flaws) printMessage(context, flawText(flaw))
    if (context.flags.json) printResult(context, simulation, "")
    else {
      printMessage(context, simulationSummary(simulation))
      if (simulation.changed.length > 0) await showChanges(context, simulation)
    }
    return simulation.flaws.some(({ kind }) => kind === "malformed") ? 1 : 0
  })
}

function showChanges(context: CliContext, { changed }: Simulation): Promise<void> {
  return showList(
    context,
    changed,
    [
      { title: "ENDED", of: ({ at }) => formatTime(at), paint: "dim" },
      { title: "CALL", of: ({ callId }) => callId },
      { title: "AGENT", of: ({ agentId }) => agentId },
      { title: "TOOL", of: ({ tool }) => tool },
      { title: "BEFORE", of: ({ before }) => before },
      { title: "AFTER", of: ({ after }) => after, paint: "bold" },
      { title: "BECAUSE", of: ({ reasons }) => reasons.map(({ sentence }) => sentence).join(" ") },
    ],
    "",
    { whole: true },
  )
}

export function simulationSummary({ looked, changed, uncertain }: Simulation): string {
  const masked =
    uncertain === 0
      ? ""
      : ` The logged input of ${uncertain} of them is masked or cut, so rules on arguments may decide those differently.`
  return `${counted(looked, "call")} were decided again; ${changed.length} would have been decided differently.${masked}`
}
