import { expect, onTestFinished, test, vi } from "vitest"
import { dataFolder, openTestApp, until } from "../testing/test-app.ts"

const org = { people: [{ id: "pat", name: "Pat" }] }

test("a link becomes one session, however many use it at the same moment", async () => {
  const dir = await dataFolder()
  const [one, other] = [await openTestApp({ org, data: { dir } }), await openTestApp({ org, data: { dir } })]
  const { link } = await one.signIn.createLink({ person: "pat", isMachineUser: false })
  const redeemed = await Promise.all([one, other, one, other].map((app) => app.signIn.redeem(link)))
  const sessions = redeemed.filter((each) => each !== undefined)
  expect(sessions).toHaveLength(1)
  const { secrets } = sessions[0]!
  await until(() => one.signIn.holder(secrets) !== undefined, "every process knows the session")
  expect(one.signIn.holder(secrets)).toMatchObject({ person: "pat", isMachineUser: false })
  const { cookie, page } = secrets
  for (const wrong of [
    { cookie: link, page: link },
    { cookie: "", page: "" },
    { cookie, page: "" },
    { cookie, page: cookie },
    { cookie: page, page },
  ])
    // prettier-ignore
    expect(one.signIn.holder(wrong)).toBeUndefined()
})

test.each([
  ["a link", 14, 16],
  ["a session", 11 * 60, 13 * 60],
])("%s has a time", async (what, stillGood, over) => {
  const app = await openTestApp({ org })
  const { link } = await app.signIn.createLink({ person: "pat", isMachineUser: false })
  const session = what === "a session" ? (await app.signIn.redeem(link))!.secrets : undefined
  const isGood = async () =>
    session === undefined ? (await app.signIn.redeem(link)) !== undefined : app.signIn.holder(session) !== undefined
  const start = Date.now()
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ["Date"], now: start + over * 60_000 })
  const later = await openTestApp({ org, data: { dir: app.dir } })
  const laterGood =
    session === undefined ? (await later.signIn.redeem(link)) !== undefined : later.signIn.holder(session) !== undefined
  expect(laterGood).toBe(false)
  vi.useFakeTimers({ toFake: ["Date"], now: start + stillGood * 60_000 })
  expect(await isGood()).toBe(true)
})

test("a session that began with a token ends when the token does, and with its person", async () => {
  const app = await openTestApp()
  const by = { kind: "person", id: "me" } as const
  const { token } = await app.org.createPerson({ id: "sue", lifetimeMs: 60 * 60_000 }, by)
  const begin = async (with_: string) => (await app.signIn.redeemToken(with_))?.secrets
  const first = (await begin(token))!
  expect(app.signIn.holder(first)).toMatchObject({ person: "sue", isMachineUser: false })
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 61 * 60_000 })
  const later = await openTestApp({ data: { dir: app.dir } })
  expect([later.signIn.holder(first), await later.signIn.redeemToken(token)]).toEqual([undefined, undefined])
  vi.useRealTimers()

  const { token: second } = await app.org.renewPersonToken("sue", {}, by)
  expect([app.signIn.holder(first), await begin(token)]).toEqual([undefined, undefined])
  const held = (await begin(second))!
  expect(app.signIn.holder(held)).toMatchObject({ person: "sue" })
  await app.org.revokePersonToken("sue", by)
  expect(app.signIn.holder(held)).toBeUndefined()
})

test("the secrets are stored only as hashes, and who is signed in changes no policy", async () => {
  const app = await openTestApp({ org })
  const before = app.rules.version()
  const { link } = await app.signIn.createLink({ person: "pat", isMachineUser: false })
  const { cookie, page } = (await app.signIn.redeem(link))!.secrets
  expect(app.rules.version()).toBe(before)
  await app.settle()
  const { readFileSync, readdirSync } = await import("node:fs")
  const files = readdirSync(app.dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const entry of files) {
    const text = readFileSync(`${entry.parentPath}/${entry.name}`, "latin1")
    expect(
      [link, cookie, page].some((secret) => text.includes(secret)),
      entry.name,
    ).toBe(false)
  }
})
