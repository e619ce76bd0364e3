import type { CliCommand } from "../../common/cli-command.ts"
import { withFilterOptions, filterOf, wholeAgent, type AuditFlags } from "./audit-filter.ts"
import { dropRecords } from "./audit-drop.ts"
import { exportAudit } from "./audit-export.ts"
import { waitedMs } from "../../../../approvals/waits.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { showList } from "../../common/listing.ts"
import { printResult } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"
import { showStats } from "./audit-stats.ts"
import { callHistory } from "./call-history.ts"
import { withoutStack } from "../../../../core/audit-entry.ts"
import { durationText } from "../../terminal/call-line.ts"
import { CannotDo, requireId, listCommand, ambiguousId } from "../../common/usage.ts"
import { showAuditHead, verifyAudit } from "./audit-verify.ts"

export function addAudit(program: CliCommand, run: Run): void {
  const audit = program
    .command("audit")

    .description("show, export and verify the audit log of all calls")
  withFilterOptions(
    listCommand(audit, "ended calls, newest first").example("qm audit list --agent dev --since 2h").allowInTool(),
  )
    .option("--limit <count>", "how many, newest first (default: 50)")
    .action(run(listCalls))
  audit
    .command("show <callId...>")
    .example("qm audit show 01a1e1a9")
    .allowInTool()
    .description(
      "show one call step by step; the first characters of its id are enough, or a record that 'qm audit verify' names",
    )
    .option("--stack", "also show where a tool of this program or of a plugin threw")
    .action(run(showCall))
  withFilterOptions(
    audit
      .command("stats")
      .example("qm audit stats --since 7d")
      .allowInTool()
      .description("count calls and failures by tool, agent, role, status and hour (UTC)"),
  ).action(run(showStats))
  withFilterOptions(
    audit
      .command("export")
      .example("qm audit export --since 2026-01-01")
      .allowInTool()
      .description("print every ended call with its input and result, oldest first"),
  )
    .option("--format <format>", "jsonl or csv (default: jsonl)")
    .option("--limit <count>", "how many (default: all)")
    .action(run(exportAudit))
  audit
    .command("verify")
    .example("qm audit verify")
    .allowInTool()
    .description("check that no record was changed or removed; exit 1 if one was")
    .option("--head <text>", "checkpoint from 'audit head': also check that the log still contains it")
    .action(run(verifyAudit))
  audit
    .command("head")
    .example("qm audit head")
    .allowInTool()
    .description("print a checkpoint hash for audit verify --head")
    .action(run(showAuditHead))
  audit
    .command("drop")
    .example("qm audit drop --before 2026-01-01")
    .description("permanently remove old records; the rest can still be verified")
    .requiredOption("--before <when>", "remove records older than a date, or older than for example 90d")
    .option("--yes", "confirm the removal")
    .action(run(dropRecords))
}

/** Lists ended calls, newest first. */
function listCalls(context: CliContext, flags: AuditFlags): Promise<number> {
  const { limit, ...filter } = filterOf(context, flags)
  const isFiltered = Object.keys(filter).length > 0
  return withApp(context, { readOnly: true }, async ({ audit, org }) => {
    const rows = await audit.list({
      ...wholeAgent(context, { org }, filter),
      ...(limit === undefined ? {} : { limit }),
    })
    const entries = await audit.showMany(rows.map(({ callId }) => callId))
    await showList(
      context,
      rows.map((row) => ({ ...row, waitedMs: waitedMs(entries.get(row.callId) ?? []) })),
      [
        { title: "ENDED", of: ({ at }) => formatTime(at), paint: "dim" },
        { title: "CALL", of: ({ callId }) => callId },
        { title: "AGENT", of: ({ agentId }) => agentId },
        { title: "TOOL", of: ({ tool }) => tool },
        { title: "WAITED", of: ({ waitedMs }) => (waitedMs === undefined ? undefined : durationText(waitedMs)) },
        { title: "MS", of: ({ durationMs }) => durationMs },
        {
          title: "ENDING",
          of: ({ code, status }) => code ?? status,
          paint: ({ green, red }, text) => (text === "success" ? green(text) : red(text)),
        },
      ],
      isFiltered ? "The audit log has no such call." : "No calls yet. 'qm call current_time' makes one.",
      { whole: true },
    )
    return 0
  })
}

/** Shows all records of one call. */
function showCall(
  context: CliContext,
  given: readonly string[],
  { stack = false }: { stack?: boolean },
): Promise<number> {
  const callId = requireId(given.join(" "))
  return withApp(context, { readOnly: true }, async ({ audit }) => {
    const found = await audit.show(callId)
    const entries = stack ? found : found.map(withoutStack)
    if (entries.length === 0) {
      const ids = await audit.beginningWith(callId)
      if (ids.length > 1) throw ambiguousId(callId, ids)
      throw new CannotDo("call_not_found", `No call has the id '${callId}'. 'qm audit list' shows whole ids.`)
    }
    printResult(context, entries, callHistory(entries))
    return 0
  })
}
