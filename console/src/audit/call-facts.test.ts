import { describe, expect, test } from "vitest"
import type { AuditEntryJson } from "../../../src/interfaces/http/routes/audit-schemas.ts"
import { readRecord, timeOfId } from "./call-facts.ts"

const callId = "01a1e99c-51fb-7044-9db8-945dcd20f938"
const made = 0x01a1e99c51fb
const entry = (kind: AuditEntryJson["kind"], after: number, more: object = {}) =>
  ({ kind, callId, at: made + after, agentId: "dev", tool: "run_command", ...more }) as AuditEntryJson
const end = (after: number, more: object) => entry("end", after, { status: "success", startedAt: made, ...more })

test("the id of a call says when it was made", () => {
  expect(timeOfId(callId)).toBe(made)
  expect(timeOfId("rule:1")).toBeUndefined()
})

describe("what the entries of a call say", () => {
  test("a call that was asked about, edited, approved and ran", () => {
    const record = readRecord([
      entry("asked", 5, { text: "Why." }),
      entry("answered", 1005, { by: "li", text: "edited the input" }),
      entry("asked", 1010),
      entry("answered", 3010, { by: "ann", text: "approved" }),
      entry("start", 3020, { input: '{"command":"ls"}', reasons: [] }),
      end(3520, { ran: true, durationMs: 500, result: '"ok"' }),
    ])
    expect(record).toMatchObject({
      madeAt: made,
      decidedMs: 5,
      waited: { asked: 3000, held: 0 },
      ranMs: 500,
      input: '{"command":"ls"}',
    })
    expect(record?.facts).toMatchObject({ state: "ended", asked: true, held: false, ran: true, edited: true })
  })

  test("a call that still waits has no end", () => {
    expect(readRecord([entry("asked", 5)])?.facts).toMatchObject({ state: "waiting", asked: true })
    const held = [entry("start", 5), entry("held", 9)]
    expect(readRecord(held)?.facts).toMatchObject({ state: "held", held: true })
  })

  test("a refused call took only its decision", () => {
    const record = readRecord([end(12, { status: "error", code: "permission_denied", ran: false, durationMs: 12 })])
    expect(record).toMatchObject({ decidedMs: 12, waited: { asked: 0, held: 0 }, ranMs: 0 })
  })

  test("nothing, where there are no entries", () => expect(readRecord([])).toBeUndefined())
})
