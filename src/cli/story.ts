import type { CallFacts, EndEntry, RecordEntry, Reason } from "../model/record.ts"
import { clock } from "./since.ts"

/** The life of one call as a person reads it: when, what happened, and who decided. */
export function storyOf(entries: readonly RecordEntry[]): string {
  return entries
    .flatMap((entry) => {
      const [first = "", ...more] = linesOf(entry)
      const start = `${clock(entry.at, { milliseconds: true })}  ${entry.kind.padEnd(9)} ${first}`
      return [start, ...more].map(
        (line, index) => `${index === 0 ? "" : margin}${line.replaceAll("\n", `\n${margin}`)}`,
      )
    })
    .join("\n")
}

/** Only a record's own first line begins at the edge, so that no text in it can pass for another record. */
const margin = " ".repeat(35)

function linesOf(entry: RecordEntry): string[] {
  switch (entry.kind) {
    case "start":
      return [whoCalls(entry), ...facts(entry), ...because(entry.reasons)]
    case "end":
      return [
        ending(entry),
        ...(entry.ran ? [] : [whoCalls(entry), ...facts(entry)]),
        ...outcome(entry),
        ...because(entry.reasons),
      ]
    default:
      return [
        [entry.by === undefined ? "" : `by ${entry.by}`, entry.text ?? ""].filter((part) => part !== "").join(": "),
      ]
  }
}

function whoCalls({ agentId, role, tool, version }: CallFacts): string {
  const as = role === undefined ? "" : ` (role ${role})`
  return `agent ${agentId}${as} calls ${tool}${version === undefined ? "" : ` ${version}`}`
}

function facts({ input, sessionId, taskId, userId, parentCallId, key, policy }: CallFacts): string[] {
  const parts: [string, string | undefined][] = [
    ["input", input],
    ["session", sessionId],
    ["task", taskId],
    ["user", userId],
    ["called by", parentCallId],
    ["key", key],
    ["policy", policy],
  ]
  return parts.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]))
}

function ending({ status, code, durationMs, ran }: EndEntry): string {
  const how = code === undefined ? status : `${status} (${code})`
  return ran ? `${how} after ${durationMs} ms` : `${how}; the tool did not run`
}

function outcome({ error, result, resultLength }: EndEntry): string[] {
  const cut = resultLength === undefined ? "" : ` (masked or cut; ${resultLength} characters in all)`
  return [
    ...(error === undefined ? [] : [`error: ${error}`]),
    ...(result === undefined ? [] : [`result: ${result}${cut}`]),
  ]
}

function because(reasons: readonly Reason[] | undefined): string[] {
  return (reasons ?? []).map(({ voice, source, sentence }) => `because ${sentence} (${voice}: ${source})`)
}
