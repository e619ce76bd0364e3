import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { CallRow, CallState } from "../core/call.ts"
import { newId } from "../lib/new-id.ts"
import type { CallStore } from "./port.ts"

export function someRow(given: Partial<CallRow> = {}): CallRow {
  return {
    id: newId(),
    state: "waiting",
    owner: "me",
    epoch: 0,
    agentId: "a",
    sessionId: "s",
    key: null,
    tool: "t",
    definitionHash: "h",
    input: '{"n":1}',
    inputDigest: newId(),
    request: "{}",
    asks: [{ check: "level", source: "x", code: "test", sentence: "It asks." }],
    card: {
      role: "operator",
      spawners: [],
      description: "A tool.",
      level: "moderate",
      inputDigest: "d",
      touches: { list: [{ kind: "read", what: "a" }], proved: true },
      files: { a: "d" },
      approvers: [],
      remember: ["tool-session"],
    },
    revision: 1,
    votes: [],
    wanted: false,
    workspace: "/w",
    preview: null,
    deadline: 5,
    answer: null,
    result: null,
    createdAt: Date.now(),
    updatedAt: 1,
    ...given,
  }
}

const yes = (by: string) => ({ votes: [], answer: { approved: true, by, at: 1 } })

/**
 * The contract of every store of calls. `open` gives a fresh store and a second connection to the same data, as another
 * process would have it.
 */
export function callStoreContract(name: string, open: () => Promise<[CallStore, CallStore]>): void {
  describe(`the store of calls: ${name}`, () => {
    test("what was inserted is read back equal, by every connection", async () => {
      const [store, other] = await open()
      const row = someRow({
        result: {
          callId: "x",
          toolName: "t",
          version: "1",
          status: "success",
          success: true,
          startedAt: 1,
          result: { a: "中" },
        },
      })
      expect(await store.insert(row)).toEqual({ inserted: true })
      expect(await other.get(row.id)).toEqual(row)
      expect(await store.get("nothing")).toBeUndefined()
    })

    test("a second row with the same key is refused and the first returned; another session or agent may have it", async () => {
      const [store, other] = await open()
      const row = someRow({ key: "k" })
      await store.insert(row)
      expect(await other.insert(someRow({ key: "k" }))).toEqual({ inserted: false, existing: row })
      expect(await other.insert(someRow({ key: "k", sessionId: "s2" }))).toEqual({ inserted: true })
      expect(await other.insert(someRow({ key: "k", agentId: "a2" }))).toEqual({ inserted: true })
    })

    test("the same waiting call is refused until it no longer waits; calls with keys are independent", async () => {
      const [store] = await open()
      const row = someRow({ inputDigest: "same" })
      await store.insert(row)
      expect(await store.insert(someRow({ inputDigest: "same" }))).toMatchObject({
        inserted: false,
        existing: { id: row.id },
      })
      expect(await store.insert(someRow({ inputDigest: "same", key: "k1" }))).toEqual({ inserted: true })
      expect(await store.insert(someRow({ inputDigest: "same", key: "k2" }))).toEqual({ inserted: true })
      await store.swap(row.id, row, { state: "ended" })
      expect(await store.insert(someRow({ inputDigest: "same" }))).toEqual({ inserted: true })
    })

    test.each([
      ["state", { state: "ready" as CallState }],
      ["owner", { owner: "somebody" }],
      ["epoch", { epoch: 7 }],
    ])("a swap with another %s changes nothing", async (_what, wrong) => {
      const [store] = await open()
      const row = someRow()
      await store.insert(row)
      expect(await store.swap(row.id, { ...row, ...wrong }, { state: "started" })).toBe(false)
      expect(await store.get(row.id)).toEqual(row)
      expect(await store.swap(row.id, row, { state: "started", input: null })).toBe(true)
      expect(await store.get(row.id)).toMatchObject({ state: "started", input: null, tool: "t" })
    })

    test("of many concurrent swaps exactly one wins", async () => {
      const [store, other] = await open()
      await fc.assert(
        fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 8 }), async (who) => {
          const row = someRow()
          await store.insert(row)
          const won = await Promise.all(
            who.map((mine, index) => (mine ? store : other).swap(row.id, row, { owner: `w${index}`, epoch: 1 })),
          )
          expect(won.filter(Boolean)).toHaveLength(1)
          expect(await store.get(row.id)).toMatchObject({ owner: `w${won.indexOf(true)}` })
        }),
        { numRuns: 100 },
      )
    })

    test("the first answer wins and makes a waiting call ready, a held one released", async () => {
      const [store, other] = await open()
      const seen = { revision: 1, votes: [] }
      for (const [state, after] of [
        ["waiting", "ready"],
        ["held", "released"],
      ] as const) {
        const row = someRow({ state })
        await store.insert(row)
        const won = await Promise.all([
          store.recordAnswer(row.id, seen, yes("ann")),
          other.recordAnswer(row.id, seen, {
            votes: [],
            answer: { approved: false, by: "bob", at: 2, rejectReason: "no" },
          }),
        ])
        expect(won.filter(Boolean)).toHaveLength(1)
        expect(await store.get(row.id)).toMatchObject({ state: after, answer: { by: won[0] ? "ann" : "bob" } })
      }
      const started = someRow({ state: "started" })
      await store.insert(started)
      expect(await store.recordAnswer(started.id, seen, yes("ann"))).toBe(false)
      expect(await store.recordAnswer("nothing", seen, yes("ann"))).toBe(false)
    })

    test("an answer counts only for the revision and the votes it was given to", async () => {
      const [store, other] = await open()
      const row = someRow({ revision: 2, votes: [{ by: "ann", at: 1 }] })
      await store.insert(row)
      const votes = [...row.votes, { by: "bob", at: 2 }]
      expect(await other.recordAnswer(row.id, { revision: 1, votes: row.votes }, yes("bob"))).toBe(false)
      expect(await other.recordAnswer(row.id, { revision: 2, votes: [] }, yes("bob"))).toBe(false)
      expect(await store.get(row.id)).toEqual(row)
      expect(await other.recordAnswer(row.id, row, { votes, answer: null })).toBe(true)
      expect(await store.get(row.id)).toMatchObject({ state: "waiting", votes, answer: null })
      expect(await store.recordAnswer(row.id, row, yes("cy"))).toBe(false)
      expect(await store.recordAnswer(row.id, { revision: 2, votes }, yes("cy"))).toBe(true)
      expect(await other.get(row.id)).toMatchObject({ state: "ready", answer: { by: "cy" } })
    })

    test("lists by state, agent, session and input, oldest first", async () => {
      const [store] = await open()
      const rows = [
        someRow({ createdAt: 1 }),
        someRow({ createdAt: 2, state: "held" }),
        someRow({ createdAt: 3, agentId: "b", sessionId: "two" }),
      ]
      for (const row of rows) await store.insert(row)
      const ids = async (filter: Parameters<CallStore["list"]>[0]) =>
        (await store.list(filter)).map((row) => rows.findIndex(({ id }) => id === row.id))
      expect(await ids({})).toEqual([0, 1, 2])
      expect(await ids({ states: ["waiting"] })).toEqual([0, 2])
      expect(await ids({ states: ["waiting"], agentId: "b" })).toEqual([2])
      expect(await ids({ sessionId: "two" })).toEqual([2])
      expect(await ids({ inputDigest: rows[1]!.inputDigest })).toEqual([1])
      expect(await ids({ limit: 1 })).toEqual([0])
      expect(await ids({ limit: 1, after: rows[0]! })).toEqual([1])
      expect(await ids({ after: rows[2]! })).toEqual([])
    })

    test("changesSince returns every change once", async () => {
      const [store, other] = await open()
      const [one, two] = [someRow(), someRow()]
      await store.insert(one)
      await store.insert(two)
      const first = await other.changesSince(0)
      expect(first.ids).toEqual([one.id, two.id])
      expect(await other.changesSince(first.cursor)).toEqual({ ids: [], cursor: first.cursor })
      await store.swap(one.id, one, { state: "ended" })
      expect((await other.changesSince(first.cursor)).ids).toEqual([one.id])
    })

    test("waitForChange wakes for a change of any connection, on abort and after its time", async () => {
      const [store, other] = await open()
      const row = someRow()
      await store.insert(row)
      // A wait that is not woken takes longer than a test may.
      const wait = (change: () => unknown, signals?: (AbortSignal | undefined)[]) => {
        const waiting = store.waitForChange(row.id, 600_000, signals)
        setTimeout(change, 20)
        return waiting
      }
      await wait(() => other.recordAnswer(row.id, row, yes("ann")))
      await wait(() => store.swap(row.id, { ...row, state: "ready" }, { state: "started" }))
      const controller = new AbortController()
      await wait(() => controller.abort(), [undefined, controller.signal])
      await store.waitForChange(row.id, 10)
    })

    test("erases only old ended rows, so that a key can be used again", async () => {
      const [store] = await open()
      const rows = [
        someRow({ state: "ended", key: "k" }),
        someRow({ state: "ended", updatedAt: Date.now() }),
        someRow(),
      ]
      for (const row of rows) await store.insert(row)
      expect(await store.erase(1000)).toBe(1)
      expect((await store.list({})).map(({ id }) => id)).toEqual([rows[1]!.id, rows[2]!.id])
      expect(await store.insert(someRow({ key: "k" }))).toEqual({ inserted: true })
    })

    test("its clock advances", async () => {
      const [store] = await open()
      const first = await store.clock()
      expect(Math.abs(first - Date.now())).toBeLessThan(5000)
      expect(await store.clock()).toBeGreaterThanOrEqual(first)
    })
  })
}
