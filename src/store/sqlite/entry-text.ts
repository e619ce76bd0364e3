import type { AuditCallFields, EndEntry, AuditEntry, StartEntry, StepEntry } from "../../core/audit-entry.ts"

/**
 * The JSON text of an entry, built by hand: that takes a quarter of the time of `JSON.stringify`, because half of the
 * fields are usually missing.
 */
export function entryText(entry: AuditEntry): string {
  if (entry.kind === "start") return startText(entry)
  return entry.kind === "end" ? endText(entry) : stepText(entry)
}

function stepText(entry: StepEntry): string {
  return (
    `{"kind":"${entry.kind}","callId":${quoted(entry.callId)},"at":${entry.at}` +
    name("agentId", entry.agentId) +
    name("tool", entry.tool) +
    name("by", entry.by) +
    text("text", entry.text) +
    "}"
  )
}

function startText(entry: StartEntry): string {
  return `{"kind":"start","callId":${quoted(entry.callId)},"at":${entry.at}${callFields(entry)}${data("reasons", entry.reasons)}}`
}

function endText(entry: EndEntry): string {
  return (
    `{"kind":"end","callId":${quoted(entry.callId)},"at":${entry.at}${callFields(entry)}${data("reasons", entry.reasons)}` +
    `,"status":"${entry.status}"${text("code", entry.code)},"startedAt":${entry.startedAt},"durationMs":${entry.durationMs}` +
    text("error", entry.error) +
    text("stack", entry.stack) +
    text("result", entry.result) +
    text("resultDigest", entry.resultDigest) +
    data("resultLength", entry.resultLength) +
    `,"ran":${entry.ran}}`
  )
}

function callFields(entry: AuditCallFields): string {
  return (
    name("agentId", entry.agentId) +
    name("role", entry.role) +
    name("tool", entry.tool) +
    name("version", entry.version) +
    name("layer", entry.layer) +
    text("sessionId", entry.sessionId) +
    name("taskId", entry.taskId) +
    name("userId", entry.userId) +
    text("parentCallId", entry.parentCallId) +
    text("traceId", entry.traceId) +
    text("key", entry.key) +
    text("intent", entry.intent) +
    text("input", entry.input) +
    text("inputDigest", entry.inputDigest) +
    name("policy", entry.policy)
  )
}

function text(field: string, value: string | undefined): string {
  return value === undefined ? "" : `,"${field}":${quoted(value)}`
}

function data(field: string, value: unknown): string {
  return value === undefined ? "" : `,"${field}":${JSON.stringify(value)}`
}

/** The JSON of recent names. Agents, roles and tools repeat, so they are escaped once. */
const recentNames = new Map<string, string>()

function name(field: string, value: string | undefined): string {
  if (value === undefined) return ""
  let json = recentNames.get(value)
  if (json === undefined) {
    json = JSON.stringify(value)
    if (recentNames.size === 1000) recentNames.clear()
    recentNames.set(value, json)
  }
  return `,"${field}":${json}`
}

/** ASCII without quotes, backslashes and control characters. */
const plain = /^[ !#-[\]-~]*$/

/** Skips `JSON.stringify` for short texts that have nothing to escape, which most are. */
function quoted(value: string): string {
  return value.length < 200 && plain.test(value) ? `"${value}"` : JSON.stringify(value)
}
