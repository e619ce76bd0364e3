import type { Command } from "commander"
import { filtered, filterOf, type AuditFlags } from "./audit-filter.ts"
import type { Run, Session } from "./house.ts"
import { answer, jsonText, say, tell } from "./output.ts"
import { paintFor } from "./paint.ts"
import { withApp } from "./session.ts"
import { clock } from "./since.ts"
import { showStats } from "./stats.ts"
import { storyOf } from "./story.ts"
import { table } from "./table.ts"
import { listCommand } from "./usage.ts"
import { showHead, verify } from "./verify.ts"

export function addAudit(program: Command, run: Run): void {
  const audit = program.command("audit").description("what was called, by whom, and how it ended")
  filtered(listCommand(audit))
    .option("--limit <count>", "how many, newest first; 50 when left out")
    .action(run(listCalls))
  audit
    .command("show <callId>")
    .description("one call, step by step; a unique beginning of its id is enough")
    .action(run(showCall))
  filtered(audit.command("stats").description("calls and failures by tool, agent and ending")).action(run(showStats))
  audit
    .command("verify")
    .description("whether the record is as it was written; exit 1 when it is not")
    .option("--head <text>", "a head kept elsewhere: the record must reach at least that far")
    .action(run(verify))
  audit.command("head").description("print a short text to keep elsewhere, for verify --head").action(run(showHead))
}

/** The calls that ended, newest first. */
function listCalls(session: Session, flags: AuditFlags): Promise<number> {
  const { io, house } = session
  const filter = filterOf(session, flags)
  return withApp(session, {}, async ({ audit }) => {
    const rows = await audit.list(filter)
    if (session.flags.json) tell(session, jsonText(rows, house))
    else if (rows.length === 0) say(session, "The record has no such call.")
    else {
      const { red, green, dim } = await paintFor(io)
      const ending = (text: string) => (text === "success" ? green(text) : red(text))
      const titles = ["CALL", "AGENT", "TOOL", "MS"].map((title) => ({ title }))
      const cells = rows.map(({ at, callId, agentId, tool, durationMs, code, status }) =>
        [clock(at), callId, agentId, tool, String(durationMs), code ?? status].map(house.printable),
      )
      tell(session, table([{ title: "ENDED", paint: dim }, ...titles, { title: "ENDING", paint: ending }], cells))
    }
    return 0
  })
}

/** One call from its first line in the record to its last. */
function showCall(session: Session, callId: string): Promise<number> {
  return withApp(session, {}, async ({ audit }) => {
    const entries = await audit.show(callId)
    if (entries.length === 0) {
      say(session, `No call has the id '${callId}', or several begin like that. 'qm audit list' shows whole ids.`)
      return 1
    }
    answer(session, entries, storyOf(entries))
    return 0
  })
}
