import type { CallRow, SettledAnswer } from "../../core/call.ts"
import type { ApprovalPorts } from "./ports.ts"
import { inputSecrets } from "../../schema/input-secrets.ts"

/** Writes what a person answered to the audit log. `hidden` are the secret values of the input, which the answer may repeat. */
export async function writeAnswer(
  row: Pick<CallRow, "id" | "agentId" | "tool" | "state">,
  answer: SettledAnswer,
  hidden: readonly string[] | undefined,
  ports: ApprovalPorts,
): Promise<void> {
  const { id: callId, agentId, tool } = row
  const text = ports.masker.text(
    row.state === "held" || row.state === "released" ? describeRelease(answer) : describeAnswer(answer),
    hidden,
  )
  const entry = { kind: "answered", at: answer.at, callId, agentId, tool, by: answer.by, text } as const
  await ports.recorder.write(entry, ports.settings.durability)
}

/**
 * The same for a call whose process is gone: nobody else would write it before the caller comes back. If this process ends
 * in between, the one that continues the call writes it.
 */
export async function writeAnswerForAbsentCaller(
  row: CallRow,
  answer: SettledAnswer,
  ports: ApprovalPorts,
): Promise<void> {
  await writeAnswer(row, answer, hiddenIn(row, ports), ports)
  const { owner, epoch } = row
  const state = row.state === "held" ? "released" : "ready"
  await ports.calls.swap(row.id, { state, owner, epoch }, { answer: { ...answer, written: true } })
}

function hiddenIn({ tool: name, agentId, input }: CallRow, ports: ApprovalPorts): readonly string[] | undefined {
  const tool = ports.tools.resolve(name, ports.organisation.view(agentId))
  if (tool === undefined || input === null) return undefined
  return ports.masker.mask(JSON.parse(input), inputSecrets(tool)).hidden
}

function describeAnswer({ approved, edit, value, note, rejectReason, via }: SettledAnswer): string {
  const way = wayText(via)
  if (edit !== undefined) return `edited the input${way}`
  if (value !== undefined) return `answered${way}`
  if (approved) return note === undefined ? `approved${way}` : `approved${way}, and says: ${note}`
  return `rejected${way}: ${rejectReason ?? "no reason given"}`
}

function describeRelease({ approved, rejectReason, via }: SettledAnswer): string {
  const way = wayText(via)
  return approved ? `released the result${way}` : `withheld the result${way}: ${rejectReason ?? "no reason given"}`
}

function wayText(via: SettledAnswer["via"]): string {
  return via === "link" ? " from a link" : ""
}
