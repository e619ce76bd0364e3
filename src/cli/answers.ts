import type { DeskItem, Question } from "../model/approval.ts"
import { formFields } from "../model/form.ts"
import type { Session } from "./house.ts"
import { jsonText, tell } from "./output.ts"

/** What waits, and how to answer it. The card is safe to print and may have colours. */
export async function showItem(session: Session, item: DeskItem, { whole }: { whole: boolean }): Promise<void> {
  const { house, flags } = session
  if (flags.json) tell(session, jsonText(item, house))
  else tell(session, [...(await house.card(item, { whole })), "", ...howToAnswer(item), ""].join("\n"))
}

/** The commands that answer what waits, one a line, each for the revision that is shown. */
export function howToAnswer(item: Pick<DeskItem, "kind" | "callId" | "revision" | "remember" | "question">): string[] {
  const { kind, remember, question } = item
  const it = shownOf(item)
  const lines = {
    call: [
      `approve ${it}`,
      ...remember.map(({ scope }) => `approve ${it} --remember ${scope}`),
      `edit ${it} '{"…":"…"}'`,
      `reject ${it} --reason "…"`,
    ],
    result: [`release ${it}`, `release ${it} --redact /a/b,/c`, `withhold ${it} --reason "…"`],
    question: [...answersTo(it, question), `reject ${it} --reason "…"`],
  }
  return ["Answer with one of:", ...lines[kind].map((line) => `  qm approvals ${line}`)]
}

/** The one command that says yes to the revision that is shown. */
export function yesTo(item: Pick<DeskItem, "kind" | "callId" | "revision" | "question">): string {
  const it = shownOf(item)
  const [toQuestion] = answersTo(it, item.question)
  const verbs = { call: `approve ${it}`, result: `release ${it}`, question: toQuestion }
  return `qm approvals ${verbs[item.kind]}`
}

const mostFields = 6

/** How a question is answered. A name that the shell could take for more than a name is not offered for copying. */
function answersTo(it: string, { form, url }: Partial<Question> = {}): string[] {
  if (form === undefined) return [url === undefined ? `answer ${it} …` : `answer ${it}`]
  const fields = formFields(form)
  if (fields.length === 1) return [`answer ${it} …`]
  const whole = `answer ${it} '{"…":"…"}'`
  const names = fields.map(({ name }) => name)
  if (fields.length === 0 || fields.length > mostFields || !names.every((name) => /^[\w.-]+$/.test(name)))
    return [whole]
  return [`answer ${it} ${names.map((name) => `${name}=…`).join(" ")}`, whole]
}

/** Why a yes without a revision does not count for what has changed since it came to the desk; undefined when it has not. */
export function unseen(item: Pick<DeskItem, "kind" | "callId" | "revision" | "question">): string | undefined {
  const { callId, revision } = item
  if (revision <= 1) return undefined
  const look = `Look at it with 'qm approvals show ${callId}', then say '${yesTo(item)}'.`
  return `What waits as ${callId} has changed and is at revision ${revision}. ${look}`
}

/** The first revision needs no name. */
function shownOf({ callId, revision }: Pick<DeskItem, "callId" | "revision">): string {
  return revision > 1 ? `${callId} --revision ${revision}` : callId
}
