import type { Quartermaster } from "../../../../app/quartermaster.ts"
import {
  chainTurns,
  withoutTakenBack,
  hintsBy,
  type CallResult,
  type ChainTurn,
} from "../../../../agents/context/turns.ts"
import { printable } from "../../../../lib/printable.ts"
import { spanWords } from "../../../../lib/span-words.ts"
import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import type { Conversation } from "../../../../core/conversation.ts"
import { callCard, callText, durationText, onOneLine, sizeText, type CallEnding } from "../../terminal/call-line.ts"
import { cutTo } from "../../terminal/width.ts"
import { AnswerText } from "./answer-text.ts"
import { paintCard } from "./call-card.ts"
import { wrap } from "./layout.ts"

const mostRows = 20

/** A conversation that goes on: what the person said last, and what happened since. */
export async function resumedRows(
  app: Quartermaster,
  conversation: Conversation,
  paint: TerminalStyle,
  columns: number,
): Promise<string[]> {
  const { id, updatedAt } = conversation
  const turns = withoutTakenBack(chainTurns(await app.conversations.turns(id)))
  const first = turns.findLastIndex((turn) => isSaid(turn) && turn.body.begins)
  const rows = turns
    .slice(first + 1)
    .flatMap((turn, place) => rowsOf(turn, turns.slice(0, first + 1 + place), paint, columns))
  return [
    paint.dim(`Conversation ${id}, used ${spanWords(Date.now() - updatedAt)} ago.`),
    ...(first === -1 ? [] : rowsOf(turns[first]!, [], paint, columns)),
    ...(rows.length > mostRows ? [paint.dim("…"), ...rows.slice(-mostRows)] : rows),
  ]
}

/** Reports whether a turn is a person's message, to begin a run or to steer one. */
export function isSaid(turn: ChainTurn): turn is ChainTurn & { kind: "user" } {
  return turn.kind === "user" && turn.body.message === undefined && turn.body.by !== hintsBy
}

/** The rows of one turn. `before` are the turns before it: results belong to the calls of an answer. */
function rowsOf(turn: ChainTurn, before: readonly ChainTurn[], paint: TerminalStyle, columns: number): string[] {
  switch (turn.kind) {
    case "user":
      return isSaid(turn) ? saidRows(turn.body.text, paint, columns) : mailRows(turn, paint, columns)
    case "assistant":
      return answerRows(turn.body.text, paint, columns)
    case "results": {
      const asked = before.findLast((each) => each.kind === "assistant")?.body.calls ?? []
      return turn.body.results.flatMap((result, place) => {
        const ending = endingOf(result)
        const call = callText(result.name, asked[place]?.input)
        return paintCard(callCard(call, ending, columns - 1), ending, paint)
      })
    }
    case "end":
      return endRows(turn.body, paint, columns)
    default:
      return []
  }
}

const mostSaidRows = 5

/** Returns the rows of a person's message, as they stand in a chat. */
function saidRows(text: string, { bold, cyan, dim }: TerminalStyle, columns: number): string[] {
  const rows = printable(text)
    .split("\n")
    .flatMap((line) => wrap(line, columns - 3))
  const shown = rows.slice(0, mostSaidRows).map((row, place) => (place === 0 ? cyan("› ") : "  ") + bold(row))
  return ["", ...shown, ...(rows.length > shown.length ? [dim("  …")] : []), ""]
}

function mailRows({ body }: ChainTurn & { kind: "user" }, { dim }: TerminalStyle, columns: number): string[] {
  if (body.message === undefined) return []
  return ["", dim(cutTo(`↳ Agent ${onOneLine(body.message.from)} has written.`, columns - 1)), ""]
}

function answerRows(answer: string, paint: TerminalStyle, columns: number): string[] {
  const text = new AnswerText(paint, () => columns)
  return [...text.add(answer), ...text.end()]
}

/** The codes of calls that have run and failed. Any other error is one of a call that did not run. */
const failures = new Set<CallResult["code"]>(["tool_failed", "timeout", "output_invalid"])

function endingOf({ isError, code, text, durationMs }: CallResult): CallEnding {
  if (isError)
    return { kind: failures.has(code) ? "failed" : "refused", words: onOneLine(text.replace(/^NOT EXECUTED\. /, "")) }
  return {
    kind: "done",
    words: [...(durationMs === undefined ? [] : [durationText(durationMs)]), sizeText(text)].join(", "),
  }
}

function endRows(
  { status, error }: (ChainTurn & { kind: "end" })["body"],
  { dim, red, yellow }: TerminalStyle,
  columns: number,
): string[] {
  const say = (text: string, colour = dim) => ["", ...wrap(printable(text), columns - 1).map(colour)]
  if (status === "error") return [...say(error ?? "The model failed.", red), dim("/retry asks the model again.")]
  if (status === "limit") return say(error ?? "A limit of the run was reached.", yellow)
  return status === "aborted" ? say("It was stopped.") : []
}
