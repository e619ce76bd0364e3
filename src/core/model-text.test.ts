import { expect, test } from "vitest"
import { modelText } from "./model-text.ts"
import { failedWith, type EndingCode } from "./result.ts"

const ended = { callId: "c1", toolName: "probe", version: "1.0.0", startedAt: 0 }

test.each<[code: EndingCode, sentence: string, told: string]>([
  ["permission_denied", "probe was not executed: no. (rule: r1) Ask a person.", "No. (rule: r1) Ask a person."],
  ["frozen", "probe was not executed: Everyone is frozen.", "Everyone is frozen."],
  ["aborted", "probe was not executed, because something changed. Call again.", "Something changed. Call again."],
  [
    "approval_expired",
    "Nobody answered in time, so probe was not executed.",
    "Nobody answered in time. Do not retry the same call.",
  ],
  [
    "approval_rejected",
    "A person (ann) rejected the call of probe: No.",
    "A person (ann) rejected the call of probe: No. Do not retry the same call.",
  ],
  ["unknown_tool", "There is no tool probe.", "There is no tool probe."],
])("a model is told once that a call with %s was not executed", (code, sentence, told) => {
  expect(modelText(failedWith(code, sentence, ended))).toBe(`NOT EXECUTED. ${told}`)
})
