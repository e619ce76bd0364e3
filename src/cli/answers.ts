import type { DeskItem } from "../model/approval.ts"
import type { Session } from "./house.ts"
import { jsonText, tell } from "./output.ts"

/** What waits, and how to answer it. The card is safe to print and may have colours. */
export async function showItem(session: Session, item: DeskItem, { whole }: { whole: boolean }): Promise<void> {
  const { house, flags } = session
  if (flags.json) tell(session, jsonText(item, house))
  else tell(session, [...(await house.card(item, { whole })), "", ...howToAnswer(item), ""].join("\n"))
}

/** The commands that answer what waits, one a line. */
export function howToAnswer({ kind, callId, remember }: Pick<DeskItem, "kind" | "callId" | "remember">): string[] {
  const lines = {
    call: [
      `qm approvals approve ${callId}`,
      ...remember.map(({ scope }) => `qm approvals approve ${callId} --remember ${scope}`),
      `qm approvals edit ${callId} '{"…":"…"}'`,
      `qm approvals reject ${callId} --reason "…"`,
    ],
    result: [
      `qm approvals release ${callId}`,
      `qm approvals release ${callId} --redact /a/b,/c`,
      `qm approvals withhold ${callId} --reason "…"`,
    ],
    question: [`qm approvals answer ${callId} …`, `qm approvals reject ${callId} --reason "…"`],
  }
  return ["Answer with one of:", ...lines[kind].map((line) => `  ${line}`)]
}

/** The one command that says yes. */
export function yesTo({ kind, callId }: Pick<DeskItem, "kind" | "callId">): string {
  const verbs = { call: `approve ${callId}`, result: `release ${callId}`, question: `answer ${callId} …` }
  return `qm approvals ${verbs[kind]}`
}
