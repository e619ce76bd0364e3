import type { CallFacts, EndEntry, RecordEntry, StartEntry } from "../model/record.ts"

/**
 * The JSON text of an entry. Every call writes a start and an end, so these two are put together by hand: in a quarter
 * of the time `JSON.stringify` takes for objects of which half the fields are not there.
 */
export function entryText(entry: RecordEntry): string {
  if (entry.kind === "start") return startText(entry)
  return entry.kind === "end" ? endText(entry) : JSON.stringify(entry)
}

function startText(entry: StartEntry): string {
  return `{"kind":"start","callId":${quoted(entry.callId)},"at":${entry.at}${facts(entry)}${data("reasons", entry.reasons)}}`
}

function endText(entry: EndEntry): string {
  return (
    `{"kind":"end","callId":${quoted(entry.callId)},"at":${entry.at}${facts(entry)}${data("reasons", entry.reasons)}` +
    `,"status":"${entry.status}"${text("code", entry.code)},"startedAt":${entry.startedAt},"durationMs":${entry.durationMs}` +
    text("error", entry.error) +
    text("result", entry.result) +
    text("resultDigest", entry.resultDigest) +
    data("resultLength", entry.resultLength) +
    `,"ran":${entry.ran}}`
  )
}

function facts(entry: CallFacts): string {
  return (
    text("agentId", entry.agentId) +
    text("role", entry.role) +
    text("tool", entry.tool) +
    text("version", entry.version) +
    text("layer", entry.layer) +
    text("sessionId", entry.sessionId) +
    text("taskId", entry.taskId) +
    text("userId", entry.userId) +
    text("parentCallId", entry.parentCallId) +
    text("traceId", entry.traceId) +
    text("key", entry.key) +
    text("input", entry.input) +
    text("inputDigest", entry.inputDigest) +
    text("policy", entry.policy)
  )
}

function text(name: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${name}":${quoted(value)}`
}

function data(name: string, value: unknown): string {
  return value === undefined ? "" : `,"${name}":${JSON.stringify(value)}`
}

const plain = /^[\w ./:@-]*$/

/** Most texts are short and have nothing to escape. */
function quoted(value: string): string {
  return value.length < 100 && plain.test(value) ? `"${value}"` : JSON.stringify(value)
}
