import type { LoadedConfig } from "../../../../config/load.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { ApprovalRequest, ApprovalUIAdapter, PendingItem } from "../../../../core/approval.ts"
import { NobodyAsked } from "../../../../approvals/nobody-asked.ts"
import type { ToolPermissionLevel } from "../../../../core/permission.ts"
import { approveCommand } from "./show-pending.ts"
import type { CliContext } from "../../common/context.ts"
import { printMessage } from "../../common/output.ts"
import { isAttended, isInsideTool } from "../../common/open-app.ts"
import { formatTime } from "../../common/time-text.ts"
import { UsageError } from "../../common/usage.ts"

interface TerminalAsking {
  yes: boolean
  person: () => Promise<string>
  onInterrupt?: () => void
  /** Told of what --yes does not cover, where there is no terminal to ask in. */
  onLeft?: (item: PendingItem) => Promise<void>
}

/** Asks the person at this terminal. Without one, the call waits in the approval queue. */
export async function askAtTerminal(
  context: CliContext,
  { approvals }: Pick<Quartermaster, "approvals">,
  { yes, person, onInterrupt, onLeft }: TerminalAsking,
): Promise<void> {
  const { io } = context
  if (!yes && !isAttended(io)) return
  const { terminalAdapter, isCoveredByYes } = await import("../../../../approvals/ask/terminal.ts")
  if (isAttended(io))
    approvals.attach(terminalAdapter({ input: io.stdin, output: io.stderr, yes, onInterrupt }), person)
  else approvals.attach(yesAlone(isCoveredByYes, (text) => printMessage(context, text), onLeft))
}

/** Refuses --yes inside a tool. */
export function refuseYesInside({ io }: CliContext, yes: boolean): void {
  if (yes && isInsideTool(io))
    throw new UsageError("--yes is for people, and this runs inside a tool (QM_INSIDE is set). Leave it out.")
}

/** --yes where nobody can be asked: what it does not cover waits in the approval queue, as it does without --yes. */
function yesAlone(
  isCovered: (level: ToolPermissionLevel, request: ApprovalRequest) => boolean,
  print: (text: string) => void,
  onLeft?: TerminalAsking["onLeft"],
): ApprovalUIAdapter {
  const leave = async (item: PendingItem, why: string): Promise<never> => {
    print(why)
    await onLeft?.(item)
    throw new NobodyAsked()
  }
  return {
    async showToolExecutionApproval(tool, _description, _input, level, request) {
      if (isCovered(level, request)) return { approved: true, by: "--yes" }
      const why = level === "sensitive" ? `${tool} is sensitive` : "a rule demands a person"
      return leave({ ...request, kind: "call" }, `--yes does not cover this call, because ${why}.`)
    },
    showToolResultApproval: (_tool, _input, _result, request) =>
      leave({ ...request, kind: "result" }, "--yes does not release results."),
    showQuestion: (_question, request) => leave({ ...request, kind: "question" }, "--yes does not answer questions."),
  }
}

/** Reports whether a call that needs approval waits for an answer from another terminal or program. */
export function waitsForRemoteAnswer({ io }: CliContext, { config }: LoadedConfig): boolean {
  return !isAttended(io) && config.approvals?.unattended !== "reject"
}

/** Prints the command that approves what waits, and until when it waits. */
export async function announceItem(context: CliContext, item: PendingItem, hint: string): Promise<void> {
  if (item.note !== undefined) {
    const { askedAgainText } = await import("../../../../approvals/ask/item-text.ts")
    printMessage(context, askedAgainText(item).trimStart())
  }
  printMessage(context, `Waiting for a person: ${await approveCommand(item)}`)
  const end = Number.isFinite(item.until) ? formatTime(item.until) : "somebody answers"
  printMessage(context, `It waits until ${end}${hint}.`)
}
