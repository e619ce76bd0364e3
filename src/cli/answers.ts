import type { DeskItem } from "../model/approval.ts"
import type { Session } from "./house.ts"
import { jsonText, tell } from "./output.ts"

/** What waits, and how to answer it. The card is safe to print and may have colours. */
export async function showItem(session: Session, item: DeskItem, { whole }: { whole: boolean }): Promise<void> {
  const { house, flags } = session
  if (flags.json) tell(session, jsonText(item, house))
  else tell(session, [...(await house.card(item, { whole })), "", ...howToAnswer(item), ""].join("\n"))
}

/** The commands that answer what waits, one a line, each for the revision that is shown. */
export function howToAnswer(item: Pick<DeskItem, "kind" | "callId" | "revision" | "remember">): string[] {
  const { kind, remember } = item
  const it = shownOf(item)
  const lines = {
    call: [
      `approve ${it}`,
      ...remember.map(({ scope }) => `approve ${it} --remember ${scope}`),
      `edit ${it} '{"…":"…"}'`,
      `reject ${it} --reason "…"`,
    ],
    result: [`release ${it}`, `release ${it} --redact /a/b,/c`, `withhold ${it} --reason "…"`],
    question: [`answer ${it} …`, `reject ${it} --reason "…"`],
  }
  return ["Answer with one of:", ...lines[kind].map((line) => `  qm approvals ${line}`)]
}

/** The one command that says yes to the revision that is shown. */
export function yesTo(item: Pick<DeskItem, "kind" | "callId" | "revision">): string {
  const it = shownOf(item)
  const verbs = { call: `approve ${it}`, result: `release ${it}`, question: `answer ${it} …` }
  return `qm approvals ${verbs[item.kind]}`
}

/** Why a yes without a revision does not count for what has changed since it came to the desk; undefined when it has not. */
export function unseen(item: Pick<DeskItem, "kind" | "callId" | "revision">): string | undefined {
  const { callId, revision } = item
  if (revision <= 1) return undefined
  const look = `Look at it with 'qm approvals show ${callId}', then say '${yesTo(item)}'.`
  return `What waits as ${callId} has changed and is at revision ${revision}. ${look}`
}

/** The first revision needs no name. */
function shownOf({ callId, revision }: Pick<DeskItem, "callId" | "revision">): string {
  return revision > 1 ? `${callId} --revision ${revision}` : callId
}
