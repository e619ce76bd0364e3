import type { Simulation } from "../model/app.ts"
import { filterOf, type AuditFlags } from "./audit-filter.ts"
import type { Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer, say } from "./output.ts"
import { readRules } from "./rule-file.ts"
import { flawText } from "./rule-text.ts"
import { meetServers } from "./servers.ts"
import { withApp } from "./session.ts"
import { clock } from "./since.ts"
import { expected } from "./usage.ts"

/** Replays recorded calls against the rules of a file; exit 1 when one of them cannot count. */
export async function simulate(session: Session, flags: AuditFlags & { rules: string }): Promise<number> {
  const filter = filterOf(session, flags)
  const given = await readRules(session, flags.rules)
  return withApp(session, {}, async ({ rules, mcp }) => {
    await meetServers({ mcp })
    const simulation = await expected(rules.simulate(given, filter))
    for (const flaw of simulation.flaws) say(session, flawText(flaw))
    if (session.flags.json) answer(session, simulation, "")
    else {
      say(session, summary(simulation))
      if (simulation.changed.length > 0) await showChanges(session, simulation)
    }
    return simulation.flaws.some(({ kind }) => kind === "malformed") ? 1 : 0
  })
}

function showChanges(session: Session, { changed }: Simulation): Promise<void> {
  return showList(
    session,
    changed,
    [
      { title: "ENDED", of: ({ at }) => clock(at), paint: "dim" },
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

export function summary({ looked, changed, uncertain }: Simulation): string {
  const masked =
    uncertain === 0
      ? ""
      : ` The record shows the input of ${uncertain} of them masked or cut, so rules on arguments may judge those differently.`
  return `${looked} calls were decided again; ${changed.length} would have been decided otherwise.${masked}`
}
