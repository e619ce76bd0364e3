import type { CallRow } from "../chain/call-rows.ts"
import { hintsBy, saidText, unnamedPerson, type ChainTurn } from "../context/turns.ts"
import type { Section } from "./grammar.ts"

/** The parts of a document besides the turns. */
export interface Shown {
  agentId: string
  /** The rows of calls, by the turn of their answer. */
  rows: ReadonlyMap<number, readonly CallRow[]>
  /** Items that wait for a person and are no call of these turns: a budget, or a call of an agent below. */
  waiting: readonly { callId: string; agentId: string; tool: string }[]
  nameOf(person: string): string
}

/** The most characters of a result. The audit log has all of it. */
const longest = 4000

/** The sections of a conversation, as its turns tell them. */
export function sectionsOf(turns: readonly ChainTurn[], shown: Shown): Section[] {
  const own = turns.flatMap((turn) => sectionsOfTurn(turn, shown))
  const more = shown.waiting.map(({ callId, agentId, tool }): Section => {
    const text = `${tool} of ${agentId} waits for a person. ${howToAnswer(callId)}`
    return { kind: "approval", key: `waits-${callId}`, heading: "", text }
  })
  return [...own, ...more]
}

function sectionsOfTurn(turn: ChainTurn, shown: Shown): Section[] {
  const key = String(turn.index)
  if (turn.kind === "user") {
    const { by, text, message } = turn.body
    if (by === hintsBy) return []
    if (message !== undefined) return [{ kind: "note", key, heading: message.from, text: saidText(turn.body) }]
    return [
      { kind: "person", key, heading: by === unnamedPerson ? "You" : shown.nameOf(by), text: withoutEmptyEnds(text) },
    ]
  }
  if (turn.kind === "assistant") {
    const said = withoutEmptyEnds(turn.body.text)
    const answer: Section[] = said === "" ? [] : [{ kind: "agent", key, heading: shown.agentId, text: said }]
    return [...answer, ...(shown.rows.get(turn.index) ?? []).flatMap((row) => sectionsOfCall(key, row, shown))]
  }
  if (turn.kind !== "end" || turn.body.status === "completed") return []
  const { status, error = "" } = turn.body
  const what = { error: "The model failed.", aborted: "The run was stopped.", limit: "The run reached a limit." }[
    status
  ]
  return [{ kind: "note", key, heading: "", text: withoutEmptyEnds(`${what} ${error}`) }]
}

function sectionsOfCall(turn: string, row: CallRow, { nameOf }: Shown): Section[] {
  const key = `${turn}.${row.place}`
  const call: Section = { kind: "tool", key, heading: "", text: toolText(row) }
  if (row.card !== undefined) {
    const what =
      row.state === "held"
        ? `The result of ${row.tool} waits to be released.`
        : `${row.title.text}: waits for a person.`
    return [call, { kind: "approval", key, heading: "", text: `${what} ${howToAnswer(row.card)}` }]
  }
  if (row.by === undefined) return [call]
  const text = `${nameOf(row.by)} ${row.code === "approval_rejected" ? "rejected" : row.code === "result_withheld" ? "withheld the result of" : "approved"} ${row.tool}.`
  return [call, { kind: "approval", key, heading: "", text }]
}

function howToAnswer(callId: string): string {
  return `Answer it in the console, or with: qm approvals show ${callId}`
}

function toolText({ tool, title, state, code, result = "" }: CallRow): string {
  const how = state !== "ended" ? state : (code ?? "done")
  const cut = result.length > longest ? `${result.slice(0, longest)}\n… (${result.length} characters)` : result
  const body = cut === "" ? [] : ["", fenced(withoutEmptyEnds(cut))]
  return [
    `<details><summary><code>${inHtml(tool)}</code> ${inHtml(title.text)}: ${how}</summary>`,
    ...body,
    "",
    "</details>",
  ].join("\n")
}

/** A code block whose fence is longer than any in the text. */
function fenced(text: string): string {
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map(({ length }) => length + 1)))
  return `${fence}text\n${text}\n${fence}`
}

function inHtml(text: string): string {
  const plain = text.replaceAll(/\s+/g, " ")
  return plain.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
}

function withoutEmptyEnds(text: string): string {
  return text
    .replaceAll("\r\n", "\n")
    .replace(/^(?:[^\S\n]*\n)+/, "")
    .trimEnd()
}
