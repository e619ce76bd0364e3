import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Documents, StoredDocument } from "../core/documents.ts"

const role = (id: string, given: { name?: string | null; live?: boolean; body?: unknown } = {}) => ({
  kind: "role" as const,
  id,
  name: id,
  body: { id },
  ...given,
})

/** The contract of every store of documents. `open` returns two connections to the same new data. */
export function documentsContract(name: string, open: () => Promise<[Documents, Documents]>): void {
  describe(`the store of documents: ${name}`, () => {
    test("a document is read back equal, here at once and in another process after a refresh", async () => {
      const [here, there] = await open()
      const body = { text: "岗位 🎉", list: [1, null, { deep: true }], none: null }
      const put = await here.put({ kind: "agent", id: "a", body }, "ann")
      const expected = { kind: "agent", id: "a", name: null, live: true, body, changedBy: "ann" }
      expect(put).toMatchObject({ written: true, document: expected })
      expect(here.get("agent", "a")).toMatchObject(expected)
      expect(there.get("agent", "a")).toBeUndefined()
      expect(await there.refresh()).toBe(true)
      expect(there.get("agent", "a")).toEqual(here.get("agent", "a"))
      expect([...there.all("agent")]).toEqual([...here.all("agent")])
      expect(here.get("role", "a")).toBeUndefined()
      expect([...here.all("department")]).toEqual([])
    })

    test("a name belongs to one live document of a kind; a conflict returns that document", async () => {
      const [here, there] = await open()
      await here.put(role("one", { name: "dev" }), "ann")
      expect(await there.put(role("two", { name: "dev" }), "bob")).toMatchObject({
        written: false,
        existing: { id: "one", changedBy: "ann" },
      })
      expect(there.get("role", "two")).toBeUndefined()
      expect(there.get("role", "one")).toBeDefined()
      expect((await there.put({ ...role("three", { name: "dev" }), kind: "department" }, "bob")).written).toBe(true)
      expect((await there.put(role("four", { name: "dev", live: false }), "bob")).written).toBe(true)
      expect((await there.put(role("five", { name: null }), "bob")).written).toBe(true)
      expect((await there.put(role("six", { name: null }), "bob")).written).toBe(true)
      await here.put(role("one", { name: "dev", live: false }), "ann")
      expect((await there.put(role("two", { name: "dev" }), "bob")).written).toBe(true)
      expect(await here.put(role("one", { name: "dev" }), "ann")).toMatchObject({
        written: false,
        existing: { id: "two" },
      })
    })

    test("a put with an expected change fails when the document changed; without one it always succeeds", async () => {
      const [here, there] = await open()
      const first = await here.put(role("a"), "ann", 0)
      const { change } = (first as { document: StoredDocument }).document
      expect(await there.put(role("a", { body: { by: "bob" } }), "bob", 0)).toMatchObject({
        written: false,
        existing: { body: { id: "a" }, change },
      })
      const second = await there.put(role("a", { body: { by: "bob" } }), "bob", change)
      expect(second).toMatchObject({ written: true, document: { body: { by: "bob" } } })
      expect(await here.put(role("a", { body: { by: "ann" } }), "ann", change)).toMatchObject({
        written: false,
        existing: { body: { by: "bob" } },
      })
      expect(here.get("role", "a")?.body).toEqual({ by: "bob" })
      expect((await here.put(role("a", { body: { by: "cid" } }), "cid")).written).toBe(true)
      await expect(here.put(role("never"), "ann", 7)).rejects.toThrow("There is no role 'never'")
      expect(here.get("role", "never")).toBeUndefined()
    })

    test("a put that must know all is refused when one of its kind changed that was not read, and succeeds after that", async () => {
      const [here, there] = await open()
      await there.put(role("a"), "ann")
      await there.put({ kind: "department", id: "d", body: {} }, "ann")
      const first = await here.put(role("b"), "bob", 0, { knowsAll: true })
      expect(first).toMatchObject({ written: false, existing: { id: "a" } })
      expect((await here.put(role("b"), "bob", 0, { knowsAll: true })).written).toBe(true)
      await there.put({ kind: "department", id: "e", body: {} }, "ann")
      await Promise.all([here.refresh(), there.refresh()])
      const both = await Promise.all([here, there].map((at, n) => at.put(role(`c${n}`), "bob", 0, { knowsAll: true })))
      expect(both.filter(({ written }) => written)).toHaveLength(1)
    })

    test("law: of many concurrent changes or names exactly one wins, and all see the same afterwards", async () => {
      const [here, there] = await open()
      let run = 0
      await fc.assert(
        fc.asyncProperty(fc.array(fc.boolean(), { minLength: 2, maxLength: 6 }), fc.boolean(), async (who, byName) => {
          const id = `r${run++}`
          const puts = await Promise.all(
            who.map((mine, index) =>
              (mine ? here : there).put(role(byName ? `${id}.${index}` : id, { name: id }), `${index}`, 0),
            ),
          )
          expect(puts.filter(({ written }) => written)).toHaveLength(1)
          const winner = puts.findIndex(({ written }) => written)
          for (const put of puts) if (!put.written) expect(put.existing.changedBy).toBe(`${winner}`)
          await Promise.all([here.refresh(), there.refresh()])
          expect([...here.all("role")]).toEqual([...there.all("role")])
          expect(here.digest).toBe(there.digest)
        }),
        { numRuns: 100 },
      )
    })

    test("listeners get every change once and in order, whoever made it, and the version grows only with a change", async () => {
      const [here, there] = await open()
      const changes: string[] = []
      here.onChange((documents) => changes.push(documents.map(({ id }) => id).join(" ")))
      const before = here.version
      expect(await here.refresh()).toBe(false)
      expect(here.version).toBe(before)
      await here.put(role("mine"), "ann")
      const between = here.version
      expect(between).toBeGreaterThan(before)
      await there.put(role("theirs"), "bob")
      await there.put(role("more"), "bob")
      expect(await here.refresh()).toBe(true)
      expect(await here.refresh()).toBe(false)
      expect(here.version).toBeGreaterThan(between)
      expect(changes).toEqual(["mine", "theirs more"])
    })

    test("law: the digest depends only on the live documents, not on their history", async () => {
      const [here, there] = await open()
      const empty = here.digest
      const bodies = fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.boolean(), fc.integer({ min: 0, max: 2 })))
      const liveOnes = (documents: Documents) =>
        JSON.stringify(
          [...documents.all("role")]
            .filter(({ live }) => live)
            .map(({ id, body }) => [id, body])
            .sort(),
        )
      const seen = new Map<string, string>()
      await fc.assert(
        fc.asyncProperty(bodies, async (puts) => {
          for (const [id, live, body] of puts) await here.put(role(id, { live, body }), "ann")
          await there.refresh()
          expect(there.digest).toBe(here.digest)
          const known = seen.get(liveOnes(here))
          if (known !== undefined) expect(here.digest).toBe(known)
          seen.set(liveOnes(here), here.digest)
        }),
        { numRuns: 100 },
      )
      expect(new Set(seen.values()).size).toBe(seen.size)
      for (const id of ["a", "b", "c"]) await here.put(role(id, { live: false }), "ann")
      expect(here.digest).toBe(empty)
    })
  })
}
