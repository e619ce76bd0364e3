import { hostname } from "node:os"
import { expect, test } from "vitest"
import type { CallRow } from "../../core/call.ts"
import type { EndEntry } from "../../core/audit-entry.ts"
import { someRow } from "../calls.contract.ts"
import { Journal } from "./journal.ts"
import { newOwnerName } from "./owner.ts"
import { callEntries, openTestStore } from "../testing/test-store.ts"

/** A process that never existed: no pid is that large. */
const dead = `${hostname()}|${2 ** 22}|0|x`

/** Leaves the data of a process that wrote the end of its call and died before it closed the row. */
async function killedBetween(end: Partial<EndEntry>, row: Partial<CallRow> = {}, owner = dead) {
  const store = await openTestStore({ writes: "journal" })
  const calls = await store.calls()
  const left = someRow({ state: "started", owner, ...row })
  await calls.insert(left)
  const [started, ended] = callEntries({ callId: left.id, at: 1000 })
  const journal = new Journal(store.journalDir, store.key, owner, () => {})
  await journal.write(started, "crash")
  await journal.write({ ...ended, ...end }, "crash")
  journal.close()
  return { store, left, find: async () => (await calls.get(left.id))! }
}

const edited = { ...someRow().card, editedBy: "ann" }

test.each<[string, Partial<EndEntry>, Partial<CallRow>, object]>([
  ["a result", { result: '{"a":[1,null]}' }, {}, { status: "success", success: true, result: { a: [1, null] } }],
  ["no result", { result: undefined }, {}, { status: "success", success: true }],
  [
    "a result that the record does not have whole",
    { result: '"*** "', resultDigest: "d" },
    {},
    { success: false, code: "interrupted" },
  ],
  [
    "a failure",
    { status: "error", code: "tool_failed", error: "No.", result: undefined },
    {},
    { success: false, status: "error", code: "tool_failed", error: "No." },
  ],
  [
    "an ending while it waited",
    { status: "error", code: "aborted", ran: false, result: undefined },
    { state: "waiting" },
    { code: "aborted", metadata: { ran: false } },
  ],
  [
    "an input that a person gave",
    { result: undefined },
    { card: edited, input: '{"n":2}' },
    { success: true, ranInput: { n: 2 } },
  ],
])(
  "a call that ended with %s has ended, though its process died before it closed the row",
  async (_, end, row, result) => {
    const { store, left, find } = await killedBetween(end, row)
    expect(await store.leases.isAlive(dead)).toBe(false)
    const found = await find()
    const card = { touches: { list: [], proved: true }, files: {} }
    expect(found).toMatchObject({ state: "ended", input: null, preview: null, asks: [], card })
    expect(found.result).toMatchObject({ callId: left.id, toolName: "probe", startedAt: 1000, ...result })
    if (!("result" in result)) expect(found.result).not.toHaveProperty("result")
    expect((await store.audit.list()).filter(({ callId }) => callId === left.id)).toHaveLength(1)
  },
)

test("rows of live processes and rows of calls without an end are not closed", async () => {
  const alive = newOwnerName()
  const { store, left, find } = await killedBetween({}, {}, alive)
  const calls = await store.calls()
  const other = someRow({ state: "started", owner: dead })
  await calls.insert(other)
  expect(await store.leases.isAlive(alive)).toBe(true)
  expect(await store.leases.isAlive(dead)).toBe(false)
  expect(await find()).toEqual(left)
  expect(await calls.get(other.id)).toEqual(other)
})
