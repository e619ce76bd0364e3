import type { Command } from "commander"
import { filtered, filterOf, type AuditFlags } from "./audit-filter.ts"
import { dropRecords } from "./drop.ts"
import { exportCalls } from "./export.ts"
import type { Run, Session } from "./house.ts"
import { showList } from "./listing.ts"
import { answer } from "./output.ts"
import { withApp } from "./session.ts"
import { clock } from "./since.ts"
import { showStats } from "./stats.ts"
import { storyOf } from "./story.ts"
import { CannotDo, idOf, listCommand, severalBegin } from "./usage.ts"
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
  filtered(
    audit.command("stats").description("calls and failures by tool, agent, role, ending and hour (in UTC)"),
  ).action(run(showStats))
  filtered(audit.command("export").description("every ended call with its input and result, oldest first"))
    .option("--format <format>", "jsonl or csv; jsonl when left out")
    .option("--limit <count>", "how many; all when left out")
    .action(run(exportCalls))
  audit
    .command("verify")
    .description("whether the record is as it was written; exit 1 when it is not")
    .option("--head <text>", "a head kept elsewhere: the record must reach at least that far")
    .action(run(verify))
  audit.command("head").description("print a short text to keep elsewhere, for verify --head").action(run(showHead))
  audit
    .command("drop")
    .description("remove the oldest part of the record for good; what is left can still be verified")
    .requiredOption("--before <when>", "only what is older than a date, or than a time back such as 90d")
    .option("--yes", "really")
    .action(run(dropRecords))
}

/** The calls that ended, newest first. */
function listCalls(session: Session, flags: AuditFlags): Promise<number> {
  const filter = filterOf(session, flags)
  return withApp(session, {}, async ({ audit }) => {
    await showList(
      session,
      await audit.list(filter),
      [
        { title: "ENDED", of: ({ at }) => clock(at), paint: "dim" },
        { title: "CALL", of: ({ callId }) => callId },
        { title: "AGENT", of: ({ agentId }) => agentId },
        { title: "TOOL", of: ({ tool }) => tool },
        { title: "MS", of: ({ durationMs }) => durationMs },
        {
          title: "ENDING",
          of: ({ code, status }) => code ?? status,
          paint: ({ green, red }, text) => (text === "success" ? green(text) : red(text)),
        },
      ],
      "The record has no such call.",
      { whole: true },
    )
    return 0
  })
}

/** One call from its first line in the record to its last. */
function showCall(session: Session, given: string): Promise<number> {
  const callId = idOf(given)
  return withApp(session, {}, async ({ audit }) => {
    const entries = await audit.show(callId)
    if (entries.length === 0) {
      const ids = await audit.beginningWith(callId)
      if (ids.length > 1) throw severalBegin(callId, ids)
      throw new CannotDo("call_not_found", `No call has the id '${callId}'. 'qm audit list' shows whole ids.`)
    }
    answer(session, entries, storyOf(entries))
    return 0
  })
}
