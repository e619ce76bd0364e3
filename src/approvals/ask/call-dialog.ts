import type { PendingItem, ExecutionDecision } from "../../core/approval.ts"
import { cardLines } from "./card.ts"
import { quoteName, oneLine, trustedRows } from "./card-rows.ts"
import { choose, promptText, writeLines, type Screen } from "./dialog.ts"
import { grantMinutes } from "../../core/rule.ts"
import { editInput } from "./edit-dialog.ts"
import { targetText } from "./item-text.ts"

/** A decision about a call. `ruleFor` is how long the rule holds that is added with the approval. */
export interface CallDecision extends ExecutionDecision {
  ruleFor?: string
}

/** Shows a waiting call and returns the decision of the person; undefined if the dialog was closed. */
export async function askAboutCall(screen: Screen, item: PendingItem): Promise<CallDecision | undefined> {
  const words = {
    a: "approve",
    ...(item.input === undefined ? {} : { e: "edit" }),
    ...(item.remember.length === 0 ? {} : { m: "approve and remember" }),
    ...(item.rule === undefined || screen.rules === undefined ? {} : { u: "approve and add the rule" }),
    r: "reject",
    s: "show whole",
  }
  let lines = cardLines(item, screen)
  for (;;) {
    const key = await choose(screen, lines, `Run ${quoteName(item.tool)}${targetText(item)}?`, words, screen.escape)
    lines = []
    if (key === undefined) return undefined
    if (key === "s") lines = cardLines(item, { ...screen, whole: true })
    else {
      const decision = await { a: approve, e: edit, m: approveAndRemember, u: approveWithRule, r: reject }[key](
        screen,
        item,
      )
      if (decision !== undefined) return decision
    }
  }
}

/**
 * Asks for the reason of a rejection, which may be empty. Where closing a dialog is an answer, closing this rejects too;
 * elsewhere it is undefined, and nothing is rejected.
 */
export async function askRejectReason(screen: Screen): Promise<string | undefined> {
  const reason = await promptText(screen, { message: "Why not? (the model reads it)" })
  if (reason === undefined && screen.escape === "later") return undefined
  return reason === undefined || reason === "" ? "Operation cancelled by user" : reason
}

async function approve(): Promise<ExecutionDecision> {
  return { approved: true }
}

async function reject(screen: Screen): Promise<ExecutionDecision | undefined> {
  const rejectReason = await askRejectReason(screen)
  return rejectReason === undefined ? undefined : { approved: false, rejectReason }
}

async function approveAndRemember(screen: Screen, { remember }: PendingItem): Promise<ExecutionDecision | undefined> {
  const lines = remember.flatMap(({ words }, place) => trustedRows(`${place + 1}  ${oneLine(words)}`, screen.columns))
  const words = Object.fromEntries(remember.map(({ scope }, place) => [String(place + 1), scope]))
  const key = await choose(screen, lines, "Approve and remember which?", words, "back")
  const chosen = key === undefined ? undefined : remember[Number(key) - 1]
  if (chosen?.scope !== "minutes") return chosen && { approved: true, remember: chosen.scope }
  const { least, most, usual } = grantMinutes
  const text = await promptText(screen, {
    message: `For how many minutes? (${least} to ${most})`,
    initialValue: String(usual),
    wrong: (given) => (isMinutes(given) ? undefined : `Give a whole number from ${least} to ${most}.`),
  })
  return text === undefined ? undefined : { approved: true, remember: "minutes", minutes: Number(text) }
}

function isMinutes(text: string): boolean {
  return /^\d{1,3}$/.test(text) && Number(text) >= grantMinutes.least && Number(text) <= grantMinutes.most
}

async function approveWithRule(screen: Screen, { rule }: PendingItem): Promise<CallDecision | undefined> {
  if (rule === undefined || screen.rules === undefined) return undefined
  writeLines(screen, trustedRows(oneLine(rule.words), screen.columns))
  const ruleFor = await promptText(screen, {
    message: "Add this rule for how long? (for example 8h or 30d)",
    wrong: screen.rules.durationProblem,
  })
  return ruleFor === undefined ? undefined : { approved: true, ruleFor }
}

async function edit(screen: Screen, { input }: PendingItem): Promise<ExecutionDecision | undefined> {
  const edited = await editInput(screen, input)
  return edited === undefined ? undefined : { approved: false, edit: edited }
}
