import { printable } from "../../../lib/printable.ts"
import { intentParameter } from "../../../schema/intent-text.ts"
import { modelText } from "../../../core/model-text.ts"
import type { ToolResult } from "../../../core/result.ts"
import { cutTo, width } from "./width.ts"

/** The ending of a call for people: a few words, and whether they are an objection. */
export interface CallEnding {
  kind: "done" | "refused" | "failed"
  words: string
}

/** A tool and what it is called with: `read_file notes.md limit=5`. */
export function callText(tool: string, input: unknown): string {
  const all = typeof input === "object" && input !== null ? Object.entries(input) : []
  // The agent's reason is none of the tool's own arguments, and must not be taken for the first of them.
  const entries = all.filter(([name]) => name !== intentParameter)
  const words = entries.map(([name, value], place) => (place === 0 ? valueText(value) : `${name}=${valueText(value)}`))
  return onOneLine([tool, ...words].join(" "))
}

/** Returns the call that ran: as it was asked for, or as a person edited it. */
export function ranText(asked: string | undefined, { toolName, ranInput }: ToolResult): string {
  return ranInput === undefined ? (asked ?? toolName) : `${callText(toolName, ranInput)} (edited)`
}

const longestValue = 500

function valueText(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "")
  return text.slice(0, longestValue)
}

export function endingOf(result: ToolResult): CallEnding {
  if (result.success) {
    const took = result.durationMs === undefined ? [] : [durationText(result.durationMs)]
    return { kind: "done", words: [...took, sizeText(modelText(result))].join(", ") }
  }
  const { code, error, status } = result
  const isRefused = status !== "error" || result.metadata?.["ran"] !== true
  return { kind: isRefused ? "refused" : "failed", words: onOneLine(error ?? code) }
}

const signs: Readonly<Record<CallEnding["kind"], string>> = { done: "●", refused: "⊘", failed: "✗" }

/** The card of an ended call: one line, or two where the reason of a refusal or failure does not fit on the first. */
export function callCard(call: string, { kind, words }: CallEnding, columns: number): string[] {
  const sign = signs[kind]
  const room = columns - 2
  if (kind === "done") {
    const left = room - width(words) - 3
    return left < 10
      ? [`${sign} ${cutTo(call, room)}`, `  ${cutTo(words, room)}`]
      : [`${sign} ${cutTo(call, left)} … ${words}`]
  }
  if (width(call) + width(words) + 2 <= room) return [`${sign} ${call}: ${words}`]
  return [`${sign} ${cutTo(call, room)}`, `  ${cutTo(words, room)}`]
}

/** `12 ms`, `3.4 s`, `2 min 5 s`. */
export function durationText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.floor((ms % 60_000) / 1000)} s`
}

/** That the model is asked again, and when. */
export function retryText(waitMs: number): string {
  return `the model does not answer, trying again in ${Math.ceil(waitMs / 1000)} s`
}

/** Describes the size of the text that the model was given. */
export function sizeText(text: string): string {
  return `${text.length} ${text.length === 1 ? "character" : "characters"}`
}

/** Text of a model or a tool on one line, with what cannot be seen made visible. */
export function onOneLine(text: string): string {
  return printable(text.replace(/\s+/g, " ").trim())
}
