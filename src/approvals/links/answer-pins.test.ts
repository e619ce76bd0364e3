import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { openTestStore } from "../../store/testing/test-store.ts"
import { dataFolder, openTestApp, until } from "../../testing/test-app.ts"
import { answerPins } from "./answer-pins.ts"

const org = { people: [{ id: "pat", name: "Pat" }] }
const by = { kind: "person", id: "pat" } as const
const right = "739164"

test.each(["", "12345", "73916x", "7".repeat(33), " 739164", "000000", "123456", "654321"])(
  "'%s' is refused as a PIN, with a sentence",
  async (pin) => {
    const { pins } = await openTestApp({ org })
    await expect(pins.set("pat", pin, "pat")).rejects.toThrow(/^A PIN .* Choose another\.$/)
    expect(pins.isSet("pat")).toBe(false)
  },
)

test("five wrong PINs lock it for 15 minutes, in every process", async () => {
  const dir = await dataFolder()
  const [one, other] = [await openTestApp({ org, data: { dir } }), await openTestApp({ org, data: { dir } })]
  expect(await one.pins.check("pat", right)).toMatchObject({ ok: false, why: "none" })
  await one.pins.set("pat", right, "pat")
  for (const left of [4, 3, 2, 1])
    expect(await other.pins.check("pat", "111222")).toEqual({ ok: false, why: "wrong", left })
  const locked = { ok: false, why: "locked", left: 0 }
  expect(await one.pins.check("pat", "111222")).toEqual(locked)
  for (const app of [one, other]) expect(await app.pins.check("pat", right)).toEqual(locked)
})

test("a right PIN, or a quarter of an hour, lets the count begin anew", async () => {
  const { documents } = await openTestStore()
  let now = 1_000_000_000
  const pins = answerPins({ documents, personSince: () => "", now: () => now })
  await pins.set("pat", right, "pat")
  for (const left of [4, 3, 2, 1]) expect(await pins.check("pat", "111222")).toMatchObject({ left })
  expect(await pins.check("pat", right)).toEqual({ ok: true })
  for (const left of [4, 3, 2, 1, 0]) expect(await pins.check("pat", "111222")).toMatchObject({ left })
  now += 14 * 60_000
  expect(await pins.check("pat", right)).toMatchObject({ why: "locked" })
  now += 2 * 60_000
  expect(await pins.check("pat", right)).toEqual({ ok: true })
})

test("of many tries at the same moment five are looked at", async () => {
  const { pins } = await openTestApp({ org })
  await pins.set("pat", right, "pat")
  const tries = await Promise.all(Array.from({ length: 12 }, () => pins.check("pat", "111222")))
  expect(tries.filter((each) => !each.ok && each.left > 0)).toHaveLength(4)
  expect(await pins.check("pat", right)).toMatchObject({ ok: false, why: "locked" })
})

test("a PIN ends with its person: somebody who gets the same name later has none", async () => {
  const { pins, org: people } = await openTestApp({ org })
  await people.createPerson({ id: "sue" }, by)
  await pins.set("sue", right, "sue")
  await pins.set("someone", right, "someone")
  expect([pins.isSet("sue"), pins.isSet("someone")]).toEqual([true, true])
  await people.deletePerson("sue", by)
  expect(pins.isSet("sue")).toBe(false)
  const deletedAt = Date.now()
  await until(() => Date.now() > deletedAt, "it is later than the end of the first Sue")
  await people.createPerson({ id: "sue" }, by)
  await people.createPerson({ id: "someone" }, by)
  expect([pins.isSet("sue"), pins.isSet("someone")]).toEqual([false, false])
})

test("the PIN is stored only as a hash, its hash is in no record, and it changes no policy", async () => {
  const app = await openTestApp({ org })
  const before = app.rules.version()
  await app.pins.set("pat", right, "pat")
  expect(await app.pins.check("pat", right)).toEqual({ ok: true })
  expect(app.rules.version()).toBe(before)
  await app.settle()
  const notes = await app.audit.show("answer-pin:pat")
  expect(notes.length).toBeGreaterThan(0)
  expect(JSON.stringify(notes)).not.toContain("pinHash")
  expect(JSON.stringify(app.org.findPerson("pat"))).not.toMatch(/pin/i)
  for (const entry of readdirSync(app.dir, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) expect(readFileSync(`${entry.parentPath}/${entry.name}`, "latin1")).not.toContain(right)
  expect(await app.pins.clear("pat", "pat")).toBe(true)
  expect([await app.pins.clear("pat", "pat"), app.pins.isSet("pat")]).toEqual([false, false])
})
