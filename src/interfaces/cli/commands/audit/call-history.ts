import type { AuditCallFields, EndEntry, AuditEntry } from "../../../../core/audit-entry.ts"
import type { Reason } from "../../../../core/reason.ts"
import { waitedMs } from "../../../../approvals/waits.ts"
import { intentText } from "../../../../schema/intent-text.ts"
import { durationText } from "../../terminal/call-line.ts"
import { formatTime } from "../../common/time-text.ts"

/** The records of one call as text: when, what happened, and who decided. */
export function callHistory(entries: readonly AuditEntry[]): string {
  const wasAsked = entries.some(({ kind }) => kind === "asked")
  const waited = waitedMs(entries)
  return entries
    .flatMap((entry) => {
      const [first = "", ...more] = linesOf(entry, wasAsked, waited)
      const start = `${formatTime(entry.at, { milliseconds: true })}  ${entry.kind.padEnd(9)} ${first}`
      return [start, ...more].map(
        (line, index) => `${index === 0 ? "" : margin}${line.replaceAll("\n", `\n${margin}`)}`,
      )
    })
    .join("\n")
}

/** Only the first line of a record begins at the left edge, so text inside a record cannot look like another record. */
const margin = " ".repeat(35)

function linesOf(entry: AuditEntry, wasAsked: boolean, waited: number | undefined): string[] {
  switch (entry.kind) {
    case "start":
      return [
        whoCalls(entry),
        ...facts(entry),
        ...because(entry.reasons),
        ...(wasAsked || (entry.reasons ?? []).length > 0 ? [] : [unasked(entry)]),
      ]
    case "end":
      return [
        ending(entry, waited),
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

function whoCalls({ agentId, role, tool, version }: AuditCallFields): string {
  const as = role === undefined ? "" : ` (role ${role})`
  return `agent ${agentId}${as} calls ${tool}${version === undefined ? "" : ` ${version}`}`
}

function facts({ input, intent, sessionId, taskId, userId, parentCallId, key, policy }: AuditCallFields): string[] {
  const parts: [string, string | undefined][] = [
    ["input", input],
    ["session", sessionId],
    ["task", taskId],
    ["user", userId],
    ["called by", parentCallId],
    ["key", key],
    ["policy", policy],
  ]
  const lines = parts.flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]))
  return intent === undefined ? lines : [...lines, intentText(intent)]
}

/** Describes a call that simply passed: no check had anything to say. */
function unasked({ role }: AuditCallFields): string {
  const visible = role === undefined ? "" : `the role ${role} has a group with this tool, and `
  return `because ${visible}no guard, limit or rule objected`
}

/** Describes the ending, the running time of the tool, and apart from that the time that people took. */
function ending({ status, code, durationMs, ran }: EndEntry, waited: number | undefined): string {
  const how = code === undefined ? status : `${status} (${code})`
  const took = !ran
    ? "; the tool did not run"
    : code === "interrupted" || code === "unknown_outcome"
      ? ""
      : ` after ${durationText(durationMs)}`
  return `${how}${took}${waited === undefined || waited < 1000 ? "" : `; it waited ${durationText(waited)} for people`}`
}

function outcome({ error, stack, result, resultLength }: EndEntry): string[] {
  const cut = resultLength === undefined ? "" : ` (masked or cut; ${resultLength} characters in all)`
  return [
    ...(error === undefined ? [] : [`error: ${error}`]),
    ...(stack === undefined ? [] : [stack]),
    ...(result === undefined ? [] : [`result: ${result}${cut}`]),
  ]
}

function because(reasons: readonly Reason[] | undefined): string[] {
  return (reasons ?? []).map(({ check, source, sentence }) => `because ${sentence} (${check}: ${source})`)
}
