import { describe, expect, test } from "vitest"
import { tool, until } from "../../../testing/test-app.ts"
import { serveAppForTest, sessionHeaders } from "../testing.ts"

const pin = "739164"
const config = {
  org: {
    people: [
      { id: "pat", name: "Pat Lee", roles: ["lead"] },
      { id: "sue", name: "Sue Ito" },
      { id: "max", scopes: ["read", "call", "approve", "manage"] },
      { id: "tom", scopes: ["read"] },
    ],
    roles: [{ name: "worker", toolGroups: ["test", "data", "interaction", "workspace"] }],
    agents: [{ id: "ada", role: "worker" }],
  },
}

const tools = {
  low: { tool: "say", input: {} },
  medium: { tool: "write_file", input: { path: "a.txt", content: "hello\n" } },
  high: { tool: "delete_file", input: { path: "gone.txt" } },
  question: { tool: "ask_user", input: { question: "Which?", options: ["red", "blue"] } },
  held: { tool: "leak", input: {} },
}

async function serving(options = {}) {
  const { app, served, ask, token } = await serveAppForTest(config as never, options)
  app.registry.registerMany([
    tool({ name: "say", effect: "read", permission: { requireExecutionApproval: true }, execute: () => "said" }),
    tool({ name: "leak", effect: "read", permission: { requireResultApproval: "always" }, execute: () => "s3cret" }),
  ])
  const waiting = async (what: keyof typeof tools, more = {}) => {
    const ticket = await app.call({ agentId: "ada", ...tools[what], ...more }, { waitMs: 0 })
    return (await app.approvals.show(ticket.callId))!
  }
  const linkTo = async ({ callId, kind, revision }: Awaited<ReturnType<typeof waiting>>, person = "pat") =>
    `/answer/${(await app.answerLinks.create({ callId, kind, revision, person, isMachineUser: false }, person)).secret}`
  const get = (path: string, headers = {}) => ask({ method: "GET", path, headers })
  const post = (path: string, form: Record<string, string>, headers = {}) =>
    ask({
      path,
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: new URLSearchParams(form).toString(),
    })
  const answersOf = async (callId: string) => {
    await app.settle()
    return (await app.audit.show(callId)).flatMap((entry) =>
      "by" in entry && entry.by ? [`${entry.by}: ${"text" in entry ? entry.text : ""}`] : [],
    )
  }
  return { app, served, ask, token, waiting, linkTo, get, post, answersOf }
}

type Scene = Awaited<ReturnType<typeof serving>>
const stillWaits = async ({ app }: Scene, callId: string) => (await app.approvals.show(callId)) !== undefined

test.each([
  // risk, PIN set, PIN given, said, answered
  ["low", false, undefined, "yes", true],
  ["low", true, undefined, "yes", true],
  ["low", false, undefined, "no", true],
  ["medium", false, undefined, "yes", false],
  ["medium", false, pin, "yes", false],
  ["medium", true, undefined, "yes", false],
  ["medium", true, "", "yes", false],
  ["medium", true, "111222", "yes", false],
  ["medium", true, pin, "yes", true],
  ["medium", true, undefined, "no", true],
  ["medium", false, undefined, "no", true],
  ["held", false, undefined, "yes", false],
  ["held", true, pin, "yes", true],
  ["held", false, undefined, "no", true],
  ["high", true, pin, "yes", false],
  ["high", false, undefined, "no", true],
  ["low", false, undefined, "", false],
  ["low", false, undefined, "maybe", false],
] as const)(
  "%s risk, a PIN is set: %s, PIN %s, '%s': it is answered: %s",
  async (what, isSet, given, say, answered) => {
    const scene = await serving()
    const { app, waiting, linkTo, post } = scene
    if (isSet) await app.pins.set("pat", pin, "pat")
    const item = await waiting(what)
    const path = await linkTo(item)
    const reply = await post(path, { say, ...(given === undefined ? {} : { pin: given }) })
    expect(reply.status).toBe(answered ? 200 : 422)
    expect(await stillWaits(scene, item.callId)).toBe(!answered)
    // It works once, and what did not count has not used it up.
    expect((await scene.get(path)).status).toBe(answered ? 410 : 200)
  },
)

test("opening a link, as a chat app does, changes nothing at all", async () => {
  const scene = await serving()
  const { app, waiting, linkTo, get, ask } = scene
  await app.pins.set("pat", pin, "pat")
  for (const what of ["low", "medium", "high", "question", "held"] as const) {
    const item = await waiting(what)
    const path = await linkTo(item)
    await app.settle()
    const [before, policy] = [await app.audit.head(), app.rules.version()]
    expect((await get(path)).status).toBe(200)
    expect((await ask({ method: "HEAD", path })).status).toBe(200)
    expect((await get(`${path}?say=yes&pin=${pin}`)).status).toBe(200)
    await app.settle()
    expect([await app.audit.head(), app.rules.version()]).toEqual([before, policy])
    expect(await app.approvals.show(item.callId)).toEqual(item)
  }
})

test("the audit log says that an answer came from a link, and whose", async () => {
  const { app, waiting, linkTo, post, answersOf } = await serving()
  const item = await waiting("low")
  await post(await linkTo(item), { say: "yes" })
  expect(await app.resume(item.callId)).toMatchObject({ success: true })
  expect(await answersOf(item.callId)).toEqual(["pat: approved from a link"])
  const other = await waiting("low", { sessionId: "other" })
  await post(await linkTo(other, "sue"), { say: "no" })
  await app.resume(other.callId)
  expect(await answersOf(other.callId)).toEqual(["sue: rejected from a link: no reason given"])
  await app.pins.set("pat", pin, "pat")
  const held = await waiting("held")
  await post(await linkTo(held), { say: "yes", pin })
  await app.resume(held.callId)
  expect(await answersOf(held.callId)).toEqual(["pat: released the result from a link", "pat: from a link"])
})

describe("a link that leads to nothing any more says why, and who was first", () => {
  test("somebody else answered", async () => {
    const { app, waiting, linkTo, get, post } = await serving()
    const item = await waiting("low")
    const path = await linkTo(item)
    await app.approvals.answer(item.callId, { kind: "reject" }, "sue", item.revision)
    void app.resume(item.callId)
    await until(
      async () => (await get(path)).text.includes("Sue Ito rejected it just now, before this link was used."),
      "it says who",
    )
    expect((await post(path, { say: "yes" })).status).toBe(410)
  })

  test("it was used", async () => {
    const { waiting, linkTo, get, post } = await serving()
    const path = await linkTo(await waiting("low"))
    expect((await post(path, { say: "yes" })).text).toContain("<h1>Approved</h1>")
    for (const reply of [await post(path, { say: "no" }), await get(path)]) {
      expect(reply.status).toBe(410)
      expect(reply.text).toContain("Pat Lee approved it just now. A link works once, for 15 minutes.")
    }
  })

  test("it has changed", async () => {
    const { app, waiting, linkTo, get, post } = await serving()
    const item = await waiting("medium")
    const path = await linkTo(item)
    await app.approvals.answer(item.callId, { kind: "edit", input: { path: "b.txt", content: "b" } }, "sue", 1)
    await app.resume(item.callId, { waitMs: 0 })
    for (const reply of [await get(path), await post(path, { say: "no" })]) {
      expect(reply.status).toBe(409)
      expect(reply.text).toContain("Sue Ito edited the input.")
      expect(reply.text).toContain("This link was for revision 1, and this is revision 2 now.")
    }
  })

  test("its call was approved, and now the result waits under the same id", async () => {
    const { app, waiting, linkTo, get, post } = await serving()
    app.registry.register(tool({ name: "both", effect: "read", permission: { requireExecutionApproval: true, requireResultApproval: "always" }, execute: () => 1 })) // prettier-ignore
    tools.low = { tool: "both", input: {} }
    const item = await waiting("low").finally(() => (tools.low = { tool: "say", input: {} }))
    const [one, other] = [await linkTo(item, "pat"), await linkTo(item, "sue")]
    await post(one, { say: "yes" })
    await app.resume(item.callId, { waitMs: 0 })
    expect(await app.approvals.show(item.callId)).toMatchObject({ kind: "result" })
    expect((await get(other)).text).toContain("Pat Lee approved it")
    expect((await post(other, { say: "yes" })).status).toBe(410)
    expect(await app.approvals.show(item.callId)).toMatchObject({ kind: "result" })
  })

  test("its person is gone, or may not answer any more", async () => {
    const { app, waiting, linkTo, get } = await serving()
    const item = await waiting("low")
    await app.org.createPerson({ id: "new" }, { kind: "person", id: "pat" })
    const path = await linkTo(item, "new")
    expect((await get(path)).status).toBe(200)
    await app.org.deletePerson("new", { kind: "person", id: "pat" })
    for (const each of [path, await linkTo(item, "tom")])
      expect(await get(each)).toMatchObject({ status: 410, text: expect.stringContaining("does not count any more") })
  })

  test("three wrong PINs end it, and five of all links lock the PIN", async () => {
    const scene = await serving()
    const { app, waiting, linkTo, post, get } = scene
    await app.pins.set("pat", pin, "pat")
    const item = await waiting("medium")
    const [one, other] = [await linkTo(item), await linkTo(item)]
    const wrong = { say: "yes", pin: "111222" }
    expect((await post(one, wrong)).text).toContain("This PIN is wrong. 2 more tries.")
    expect((await post(one, wrong)).text).toContain("This PIN is wrong. 1 more try.")
    expect(await post(one, wrong)).toMatchObject({ status: 410, text: expect.stringContaining("Three wrong PINs") })
    expect((await post(one, { say: "yes", pin })).status).toBe(410)
    await post(other, wrong)
    expect((await post(other, wrong)).text).toContain("locked for 15 minutes")
    expect((await post(other, { say: "yes", pin })).text).toContain("locked for 15 minutes")
    expect(await stillWaits(scene, item.callId)).toBe(true)
    expect((await get(other)).status).toBe(200)
    expect((await post(other, { say: "no" })).status).toBe(200)
  })

  test("it never was one; twenty a minute are answered, and real links still work", async () => {
    let now = Date.now()
    const { waiting, linkTo, get } = await serving({ now: () => now })
    for (let tries = 0; tries < 20; tries++) expect((await get(`/answer/wrong-${tries}`)).status).toBe(404)
    expect(await get("/answer/wrong")).toMatchObject({ status: 429, headers: { "retry-after": "60" } })
    expect((await get(await linkTo(await waiting("low")))).status).toBe(200)
    now += 61_000
    expect((await get("/answer/wrong")).status).toBe(404)
  })
})

test.each([
  ["one of the options", { value: "blue" }, "blue"],
  ["something else", { value: "green" }, undefined],
  ["nothing", {}, undefined],
  ["spaces", { value: "  " }, undefined],
])("a question answered with %s", async (_what, form, result) => {
  const scene = await serving()
  const { app, waiting, linkTo, post } = scene
  const item = await waiting("question")
  const reply = await post(await linkTo(item), { say: "yes", ...form } as Record<string, string>)
  expect(reply.status).toBe(result === undefined ? 422 : 200)
  if (result === undefined) expect(await stillWaits(scene, item.callId)).toBe(true)
  else expect(JSON.stringify(await app.resume(item.callId))).toContain(result)
})

test("two people who answer from their links at once: one counts, the other is told", async () => {
  const { app, waiting, linkTo, post } = await serving()
  const item = await waiting("low")
  const links = [await linkTo(item, "pat"), await linkTo(item, "sue"), await linkTo(item, "max")]
  const replies = await Promise.all(links.map((path) => post(path, { say: "yes" })))
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 410, 410])
  expect(await app.resume(item.callId)).toMatchObject({ success: true })
})

test("the page escapes what the agent says, runs no script, and cannot be framed or kept", async () => {
  const { app, waiting, linkTo, get } = await serving()
  const intent = `</p><script>alert(1)</script><img src=x onerror="alert(2)">\u202Eabc`
  const item = await waiting("medium", { input: { path: "a.txt", content: "<b>x</b>" }, intent })
  const { text, headers } = await get(await linkTo(item))
  expect(text).not.toMatch(/<script|<img|<b>x|\u202E/)
  expect(text).toContain("&lt;script&gt;")
  const policy = String(headers["content-security-policy"])
  expect(policy).toMatch(
    /^default-src 'none'; style-src 'nonce-[^']+'; .*form-action 'self'; .*frame-ancestors 'none'$/,
  )
  expect(policy).not.toMatch(/script|unsafe/)
  expect(headers).toMatchObject({
    "cache-control": "no-store",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
  })
  expect(headers["set-cookie"]).toBeUndefined()
  await app.settle()
})

test.each([
  ["another site", { origin: "https://evil.example" }, 403],
  ["a page without origin", { origin: "null" }, 403],
  ["another host", { host: "evil.example" }, 403],
  ["a script of another site", { "content-type": "text/plain" }, 415],
  ["JSON", { "content-type": "application/json" }, 415],
])("an answer by %s is refused", async (_what, headers, status) => {
  const scene = await serving()
  const item = await scene.waiting("low")
  expect((await scene.post(await scene.linkTo(item), { say: "yes" }, headers)).status).toBe(status)
  expect(await stillWaits(scene, item.callId)).toBe(true)
})

test.each([
  ["de-DE,zh-CN;q=0.8,en;q=0.5", "", "zh-CN"],
  ["en-GB,zh;q=0.9", "", "en"],
  ["fr", "", "en"],
  [undefined, "", "en"],
  ["zh-TW", "?lang=en", "en"],
  ["en", "?lang=zh", "zh-CN"],
])("for the languages %s and the address '%s' the page is in %s", async (accepted, query, lang) => {
  const { waiting, linkTo, get } = await serving()
  const { text } = await get(`${await linkTo(await waiting("low"))}${query}`, { "accept-language": accepted })
  expect(text).toContain(`<html lang="${lang}">`)
  expect(text.includes("批准一次")).toBe(lang === "zh-CN")
})

describe("POST /v1/approvals/{id}/links", () => {
  async function asking() {
    const scene = await serving({ publicUrl: "https://tools.example" })
    const as = async (person: string, isMachineUser = false) => {
      const session = await sessionHeaders(scene.app, person, isMachineUser)
      const headers = { ...session, "content-type": "application/json" }
      return async (callId: string, body = {}) => {
        const { status, text } = await scene.ask({
          path: `/v1/approvals/${callId}/links`,
          headers,
          body: JSON.stringify(body),
        })
        return { status, body: JSON.parse(text) as Record<string, unknown> }
      }
    }
    return { ...scene, as }
  }

  test.each([
    ["pat", undefined, 201, "pat"],
    ["pat", "pat", 201, "pat"],
    ["pat", "sue", 403, undefined],
    ["max", "sue", 201, "sue"],
    ["max", "tom", 422, undefined],
    ["max", "nobody", 404, undefined],
    ["tom", undefined, 403, undefined],
  ] as const)("%s asks for one for %s: %i", async (who, person, status, whose) => {
    const { as, waiting, get } = await asking()
    const item = await waiting("low")
    const made = await (await as(who))(item.callId, person === undefined ? {} : { person })
    expect(made.status).toBe(status)
    if (whose === undefined) return
    expect(made.body).toMatchObject({
      callId: item.callId,
      revision: 1,
      person: whose,
      risk: "low",
      expiresAt: expect.any(Number),
    })
    const url = new URL(made.body["url"] as string)
    expect(url.origin).toBe("https://tools.example")
    expect((await get(url.pathname)).status).toBe(200)
  })

  test("the link of this machine's user answers as them; what does not wait has none", async () => {
    const { app, as, waiting, post, answersOf } = await asking()
    const me = await as("me", true)
    const item = await waiting("low")
    const { body } = await me(item.callId)
    expect((await post(new URL(body["url"] as string).pathname, { say: "yes" })).status).toBe(200)
    await app.resume(item.callId)
    expect(await answersOf(item.callId)).toEqual(["me: approved from a link"])
    expect((await me(item.callId)).status).toBe(410)
    expect((await me("nothing")).status).toBe(404)
  })

  test("/v1/me says whether a PIN is set, and nothing shows it", async () => {
    const { app, ask, token } = await asking()
    await app.pins.set("pat", pin, "pat")
    const me = async (headers: Record<string, string>) =>
      (await ask({ method: "GET", path: "/v1/me", headers })).message
    expect(await me(await sessionHeaders(app, "pat"))).toMatchObject({ pin: true })
    expect(await me(await sessionHeaders(app, "sue"))).toMatchObject({ pin: false })
    expect(await me({ authorization: `Bearer ${await token("ada")}` })).toMatchObject({ pin: false })
    const people = await ask({ method: "GET", path: "/v1/people", headers: await sessionHeaders(app, "max") })
    expect(people.text).not.toMatch(/pinHash|739164/)
  })
})
