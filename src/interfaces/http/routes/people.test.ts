import { expect, test } from "vitest"
import { until } from "../../../testing/test-app.ts"
import { serving } from "./testing.ts"

const dayMs = 24 * 60 * 60_000

test("a person's token expires, is said to have expired, is renewed and revoked", async () => {
  const { app, client, signIn } = await serving()
  const { ask } = await signIn("someone", true)
  const { body: made } = await ask("POST", "/v1/people", { id: "sue", days: 1 / dayMs })
  const me = (token: string) => client({ authorization: `Bearer ${token}` })("GET", "/v1/me")
  await until(() => Date.now() >= made.person.tokenExpiresAt, "its time is over")
  const late = await me(made.token)
  expect(late).toMatchObject({ status: 401, body: { code: "token_expired", params: { id: "sue" } } })
  expect(late.body.detail).toMatch(/^The token of sue expired at 20.* qm people token sue$/)

  const renew = (body: object) => ask("POST", "/v1/people/sue/token", body)
  const { body: renewed } = await renew({})
  expect(renewed.person.tokenExpiresAt - Date.now()).toBeGreaterThan(89 * dayMs)
  expect(renewed.person).not.toHaveProperty("tokenHash")
  expect(await me(renewed.token)).toMatchObject({ status: 200, body: { id: "sue" } })
  const { body: forever } = await renew({ days: null })
  expect(forever.person).not.toHaveProperty("tokenExpiresAt")
  expect([(await me(renewed.token)).status, (await me(forever.token)).status]).toEqual([401, 200])

  const { body: listed } = await ask("GET", "/v1/people")
  const sue = listed.items.find(({ id }: { id: string }) => id === "sue")
  expect(sue).toMatchObject({ hasToken: true })
  expect((await ask("DELETE", "/v1/people/sue/token")).body).toMatchObject({ id: "sue", hasToken: false })
  expect((await me(forever.token)).status).toBe(401)
  expect(app.org.findPerson("sue")?.status).toBe("active")

  const pat = await signIn("pat", false)
  expect((await pat.ask("POST", "/v1/people/sue/token", {})).status).toBe(403)
  const configured = await ask("POST", "/v1/people/pat/token", {})
  expect(configured.status).toBe(422)
})

test("a person is signed out everywhere by themselves or by who may manage, and nobody else sees their sessions", async () => {
  const { signIn } = await serving({}, [{ id: "lee", name: "Lee" }])
  const [one, two] = [await signIn("pat", false), await signIn("pat", false)]
  const { ask: asLee } = await signIn("lee", false)
  const { ask: asUser } = await signIn("user", true)
  const patOf = ({ body }: { body: { items: { id: string }[] } }) => body.items.find(({ id }) => id === "pat")
  expect(patOf(await one.ask("GET", "/v1/people"))).toMatchObject({
    pin: false,
    scopes: ["read", "call", "approve"],
    lastSignIn: expect.any(Number),
    sessions: [{ current: true }, { current: false }],
  })
  expect(patOf(await asLee("GET", "/v1/people"))).toMatchObject({ sessions: [] })
  expect((await asUser("GET", "/v1/people")).body.items[0]).toMatchObject({
    id: "user",
    source: "this machine",
    scopes: ["read", "call", "approve", "manage"],
    sessions: [{ current: true, machineUser: true }],
  })
  expect(await asLee("DELETE", "/v1/people/pat/sessions")).toMatchObject({
    status: 403,
    body: { code: "not_your_sessions" },
  })
  expect((await asUser("DELETE", "/v1/people/pat/sessions")).body).toEqual({ ended: 2 })
  expect((await two.ask("GET", "/v1/me")).status).toBe(401)
  expect((await asLee("DELETE", "/v1/people/lee/sessions")).body).toEqual({ ended: 1 })
  expect((await asUser("DELETE", "/v1/people/nobody/sessions")).status).toBe(404)
})
