import type { CliCommand } from "../../common/cli-command.ts"
import { counted } from "../../../../lib/counted.ts"
import { printable } from "../../../../lib/printable.ts"
import { totalWaiting } from "../../../../core/approval.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { ModeInForce } from "../../../../core/organisation.ts"
import type { CliContext, Run } from "../../common/context.ts"
import { withApp } from "../../common/open-app.ts"
import { printResult } from "../../common/output.ts"
import { formatTime } from "../../common/time-text.ts"

export function addStatus(program: CliCommand, run: Run): void {
  program
    .command("status")
    .example("qm status")
    .description("show what holds now: how much waits for people, who is frozen, the modes in force")
    .action(run(showStatus))
}

function showStatus(context: CliContext): Promise<number> {
  return withApp(context, { readOnly: true }, async (app) => {
    const waiting = totalWaiting(await app.approvals.count())
    const [frozen, modes] = [app.frozen(), app.modes()]
    const lines = [
      waiting === 0
        ? "Nothing waits for a person."
        : `${counted(waiting, "item")} waiting. 'qm approvals list' shows them.`,
      ...(frozen.length === 0 ? ["Nobody is frozen."] : frozen.map(freezeLine)),
      ...(modes.length === 0 ? ["No mode is in force: rules and levels decide."] : modes.map(modeLine)),
    ]
    printResult(context, { waiting, frozen, modes }, printable(lines.join("\n")))
    return 0
  })
}

function freezeLine({ agentId, by, because }: ReturnType<Quartermaster["frozen"]>[number]): string {
  const who = agentId === undefined ? "All agents are" : `Agent ${agentId} and its sub-agents are`
  return `${who} frozen by ${by}${because === undefined ? "" : `: ${because}`}`
}

function modeLine({ mode, agentId, sessionId = "", by, until = 0 }: ModeInForce): string {
  return mode === "plan"
    ? `Agent ${agentId} is in mode plan in all its sessions, set by ${by}, until somebody ends it.`
    : `Agent ${agentId} is in mode edits in session ${sessionId}, set by ${by}, until ${formatTime(until)}.`
}
