import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { openTestStore } from "../../store/testing/test-store.ts"
import { openTestApp } from "../../testing/test-app.ts"
import { answerLinks, endOldAnswerLinks } from "./answer-links.ts"

const org = { people: [{ id: "pat", name: "Pat" }] }
const target = { callId: "c1", kind: "call", revision: 2, person: "pat", isMachineUser: false } as const

async function withLink(person = "pat") {
  const app = await openTestApp({ org })
  const { secret } = await app.answerLinks.create({ ...target, person }, person)
  const found = async () => (await app.answerLinks.find(secret))!
  return { app, secret, found, id: (await found()).id }
}

test("a link is for one revision and one person, and says what became of it after its one use", async () => {
  const { app, found, id } = await withLink()
  expect(await found()).toMatchObject({ ...target, state: "open" })
  await app.answerLinks.use(id, "yes")
  expect(await found()).toMatchObject({ state: "used", said: "yes", usedAt: expect.any(Number) })
  await app.answerLinks.use(id, "no")
  expect(await found()).toMatchObject({ said: "yes" })
})

test("the third wrong PIN ends a link, however many come at the same moment", async () => {
  const { app, found, id } = await withLink()
  await Promise.all([app.answerLinks.countWrongPin(id), app.answerLinks.countWrongPin(id)])
  expect(await found()).toMatchObject({ state: "open" })
  await app.answerLinks.countWrongPin(id)
  expect(await found()).toMatchObject({ state: "ended" })
})

test("a link is open for 15 minutes, known for a day, and then forgotten", async () => {
  const { documents } = await openTestStore()
  let now = 1_000_000
  const links = answerLinks({ documents, isPerson: () => true, now: () => now })
  const { secret } = await links.create(target, "pat")
  const after = async (minutes: number) => {
    now += minutes * 60_000
    await endOldAnswerLinks(documents, now)
    return (await links.find(secret))?.state
  }
  expect([await after(14), await after(2), await after(23 * 60), await after(2 * 60)]).toEqual([
    "open",
    "expired",
    "expired",
    undefined,
  ])
})

test("a link ends with its person, and one of this machine's user when somebody gets that name", async () => {
  const { app, found } = await withLink("someone")
  expect(await found()).toMatchObject({ state: "open" })
  await app.org.createPerson({ id: "someone" }, { kind: "person", id: "pat" })
  expect(await found()).toMatchObject({ state: "void" })
})

test("an answer link signs nobody in, a sign-in link answers nothing, and only a hash is stored", async () => {
  const { app, secret } = await withLink()
  expect(await app.signIn.redeem(secret)).toBeUndefined()
  const { link } = await app.signIn.createLink({ person: "pat", isMachineUser: false })
  expect(await app.answerLinks.find(link)).toBeUndefined()
  await app.settle()
  for (const entry of readdirSync(app.dir, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) expect(readFileSync(`${entry.parentPath}/${entry.name}`, "latin1")).not.toContain(secret)
})
