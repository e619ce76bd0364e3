import type { PendingItem, Question } from "../../../../core/approval.ts"
import { grantMinutes, type GrantScope } from "../../../../core/rule.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import { printableJson } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"
import { printOutput } from "../../common/output.ts"
import { columnsOf } from "../../terminal/table.ts"

/** Shows a pending item and the commands that answer it. */
export async function showPendingItem(
  context: CliContext,
  item: PendingItem,
  { whole }: { whole: boolean },
): Promise<void> {
  if (context.flags.json) printOutput(context, printableJson(item))
  else {
    const { cardLines } = await import("../../../../approvals/ask/card.ts")
    const { stdout, env } = context.io
    const card = cardLines(item, { whole, paint: await terminalStyleFor(stdout, env), columns: columnsOf(stdout) })
    printOutput(context, [...card, "", ...(await howToAnswer(item)), ""].join("\n"))
  }
}

/** The commands that answer an item, one per line, each for the shown revision. */
async function howToAnswer(item: PendingItem): Promise<string[]> {
  const { kind, remember, rule, question } = item
  const target = targetOf(item)
  const lines = {
    call: [
      `approve ${target}`,
      ...remember.map(({ scope }) => `approve ${target} --remember ${rememberWord(scope)}`),
      ...(rule === undefined ? [] : [`approve ${target} --rule 8h`]),
      `edit ${target} '{"…":"…"}'`,
      `reject ${target} --reason "…"`,
    ],
    result: [`release ${target}`, `release ${target} --redact /a/b,/c`, `withhold ${target} --reason "…"`],
    question: [...(await answersTo(target, question)), `reject ${target} --reason "…"`],
  }
  return ["Answer with one of:", ...lines[kind].map((line) => `  qm approvals ${line}`)]
}

function rememberWord(scope: GrantScope): string {
  return scope === "minutes" ? `minutes:${grantMinutes.usual}` : scope
}

/** The command that approves, releases or answers the shown revision. */
export async function approveCommand(
  item: Pick<PendingItem, "kind" | "callId" | "revision" | "question">,
): Promise<string> {
  const target = targetOf(item)
  const [toQuestion] = await answersTo(target, item.question)
  const verbs = { call: `approve ${target}`, result: `release ${target}`, question: toQuestion }
  return `qm approvals ${verbs[item.kind]}`
}

const maxFields = 6

/** The commands that answer a question. Field names that a shell could interpret are not offered for copying. */
async function answersTo(target: string, { form, url, options }: Partial<Question> = {}): Promise<string[]> {
  if (options !== undefined) return options.slice(0, maxFields).map((_, place) => `answer ${target} ${place + 1}`)
  if (form === undefined) return [url === undefined ? `answer ${target} …` : `answer ${target}`]
  const { formFields } = await import("../../../../schema/form.ts")
  const fields = formFields(form)
  if (fields.length === 1) return [`answer ${target} …`]
  const whole = `answer ${target} '{"…":"…"}'`
  const names = fields.map(({ name }) => name)
  if (fields.length === 0 || fields.length > maxFields || !names.every((name) => /^[\w.-]+$/.test(name))) return [whole]
  return [`answer ${target} ${names.map((name) => `${name}=…`).join(" ")}`, whole]
}

/** Why an approval without --revision is refused: the item has changed. Undefined if it has not. */
export async function revisionProblem(
  item: Pick<PendingItem, "kind" | "callId" | "revision" | "question">,
): Promise<string | undefined> {
  const { callId, revision } = item
  if (revision <= 1) return undefined
  const look = `Look at it with 'qm approvals show ${callId}', then run '${await approveCommand(item)}'.`
  return `${callId} has changed and is at revision ${revision}. ${look}`
}

/** The id, with --revision for an item that has changed. */
function targetOf({ callId, revision }: Pick<PendingItem, "callId" | "revision">): string {
  return revision > 1 ? `${callId} --revision ${revision}` : callId
}
