import { expect, test } from "vitest"
import type { AuditRowJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { stepsDone } from "./steps-done.ts"

const row = (callId: string, more: Partial<AuditRowJson>): AuditRowJson => ({
  callId,
  at: 0,
  agentId: "dev",
  tool: "read_file",
  status: "success",
  durationMs: 4,
  summary: "",
  ran: true,
  asked: false,
  held: false,
  ...more,
})

test("a step is done by a call that did just that", () => {
  const calls = [
    row("ran", {}),
    row("held", { held: true, waitedMs: 660_000 }),
    row("failed", { code: "tool_failed" }),
    row("refused", { ran: false, code: "permission_denied" }),
    row("answered", { asked: true, by: "ann" }),
    row("expired", { ran: false, asked: true, code: "approval_expired" }),
  ]
  const { ran, asked, answered } = stepsDone(calls, false)
  const ids = (some: readonly AuditRowJson[]) => some.map(({ callId }) => callId)
  expect(ids(ran)).toEqual(["ran"])
  expect(ids(asked)).toEqual(["answered", "expired"])
  expect(ids(answered)).toEqual(["answered"])
})
