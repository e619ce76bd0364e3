import fc from "fast-check"
import { describe, expect, test } from "vitest"
import type { Documents, StoredDocument } from "../model/documents.ts"

const role = (id: string, given: { name?: string | null; live?: boolean; body?: unknown } = {}) => ({
  kind: "role" as const,
  id,
  name: id,
  body: { id },
  ...given,
})

/** What every store of documents must do. `open` gives two connections to the same fresh data. */
export function documentsContract(name: string, open: () => Promise<[Documents, Documents]>): void {
  describe(`the store of documents: ${name}`, () => {
    test("what was put is read back equal, here at once and elsewhere after a look", async () => {
      const [here, there] = await open()
      const body = { text: "岗位 🎉", list: [1, null, { deep: true }], none: null }
      const put = await here.put({ kind: "agent", id: "a", body }, "ann")
      const expected = { kind: "agent", id: "a", name: null, live: true, body, changedBy: "ann" }
      expect(put).toMatchObject({ kept: true, document: expected })
      expect(here.get("agent", "a")).toMatchObject(expected)
      expect(there.get("agent", "a")).toBeUndefined()
      expect(await there.refresh()).toBe(true)
      expect(there.get("agent", "a")).toEqual(here.get("agent", "a"))
      expect([...there.all("agent")]).toEqual([...here.all("agent")])
      expect(here.get("role", "a")).toBeUndefined()
      expect([...here.all("department")]).toEqual([])
    })

    test("a name belongs to one live document of a kind; the one that has it is returned", async () => {
      const [here, there] = await open()
      await here.put(role("one", { name: "dev" }), "ann")
      expect(await there.put(role("two", { name: "dev" }), "bob")).toMatchObject({
        kept: false,
        existing: { id: "one", changedBy: "ann" },
      })
      expect(there.get("role", "two")).toBeUndefined()
      expect(there.get("role", "one")).toBeDefined()
      expect((await there.put({ ...role("three", { name: "dev" }), kind: "department" }, "bob")).kept).toBe(true)
      expect((await there.put(role("four", { name: "dev", live: false }), "bob")).kept).toBe(true)
      expect((await there.put(role("five", { name: null }), "bob")).kept).toBe(true)
      expect((await there.put(role("six", { name: null }), "bob")).kept).toBe(true)
      await here.put(role("one", { name: "dev", live: false }), "ann")
      expect((await there.put(role("two", { name: "dev" }), "bob")).kept).toBe(true)
      expect(await here.put(role("one", { name: "dev" }), "ann")).toMatchObject({
        kept: false,
        existing: { id: "two" },
      })
    })

    test("a change counts only for what was seen; without saying what was seen it always counts", async () => {
      const [here, there] = await open()
      const first = await here.put(role("a"), "ann", 0)
      const { change } = (first as { document: StoredDocument }).document
      expect(await there.put(role("a", { body: { by: "bob" } }), "bob", 0)).toMatchObject({
        kept: false,
        existing: { body: { id: "a" }, change },
      })
      const second = await there.put(role("a", { body: { by: "bob" } }), "bob", change)
      expect(second).toMatchObject({ kept: true, document: { body: { by: "bob" } } })
      expect(await here.put(role("a", { body: { by: "ann" } }), "ann", change)).toMatchObject({
        kept: false,
        existing: { body: { by: "bob" } },
      })
      expect(here.get("role", "a")?.body).toEqual({ by: "bob" })
      expect((await here.put(role("a", { body: { by: "cid" } }), "cid")).kept).toBe(true)
      await expect(here.put(role("never"), "ann", 7)).rejects.toThrow("There is no role 'never'")
      expect(here.get("role", "never")).toBeUndefined()
    })

    test("law: of many who change or name at once exactly one wins, and all see the same afterwards", async () => {
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
          expect(puts.filter(({ kept }) => kept)).toHaveLength(1)
          const winner = puts.findIndex(({ kept }) => kept)
          for (const put of puts) if (!put.kept) expect(put.existing.changedBy).toBe(`${winner}`)
          await Promise.all([here.refresh(), there.refresh()])
          expect([...here.all("role")]).toEqual([...there.all("role")])
          expect(here.digest).toBe(there.digest)
        }),
        { numRuns: 100 },
      )
    })

    test("every change is told once, in its order, whoever made it, and the version grows only with a change", async () => {
      const [here, there] = await open()
      const told: string[] = []
      here.onChange((documents) => told.push(documents.map(({ id }) => id).join(" ")))
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
      expect(told).toEqual(["mine", "theirs more"])
    })

    test("law: the digest is that of the live documents, however they came to be", async () => {
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
