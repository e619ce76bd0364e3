import { resultOrThrow } from "../../core/errors.ts"
import fc from "fast-check"
import { expect, test } from "vitest"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import type { SessionEnvironment } from "../../store/port.ts"
import type { ToolContext } from "../../core/tool.ts"
import { openTestApp } from "../../testing/test-app.ts"
import { currentTime } from "./current-time.ts"
import { getEnv } from "./get-env.ts"
import { isSecretVariable } from "../../lib/secret-names.ts"
import { setEnv } from "./set-env.ts"
import { sleep } from "./sleep.ts"

const minimal = { taskId: "t1", agent: { id: "ann" } } as ToolContext
const yes = callbackAdapter({ onExecution: () => true })
const operator = { agentId: "operator", sessionId: "s1" }

interface Told {
  timestamp: number
  iso: string
  timezone: string
}
const told = (timezone: string, at: string) => currentTime(() => Date.parse(at)).execute({ timezone }, minimal) as Told

test.each([
  ["UTC", "2026-01-15T12:00:00.000Z", "2026-01-15T12:00:00.000Z"],
  ["Asia/Shanghai", "2026-01-15T20:30:00.123Z", "2026-01-16T04:30:00.123+08:00"],
  ["Asia/Kolkata", "2026-01-15T12:00:00.000Z", "2026-01-15T17:30:00.000+05:30"],
  ["Asia/Kathmandu", "2026-01-15T12:00:00.000Z", "2026-01-15T17:45:00.000+05:45"],
  ["America/St_Johns", "2026-01-15T02:00:00.000Z", "2026-01-14T22:30:00.000-03:30"],
  ["Pacific/Marquesas", "2026-01-01T00:00:00.000Z", "2025-12-31T14:30:00.000-09:30"],
  ["Pacific/Kiritimati", "2026-12-31T12:00:00.000Z", "2027-01-01T02:00:00.000+14:00"],
  ["Europe/London", "2026-01-15T12:00:00.000Z", "2026-01-15T12:00:00.000Z"],
  ["Europe/London", "2026-07-15T12:00:00.000Z", "2026-07-15T13:00:00.000+01:00"],
  ["Europe/Berlin", "2026-03-29T00:59:59.999Z", "2026-03-29T01:59:59.999+01:00"],
  ["Europe/Berlin", "2026-03-29T01:00:00.000Z", "2026-03-29T03:00:00.000+02:00"],
  ["America/New_York", "2026-11-01T05:59:59.000Z", "2026-11-01T01:59:59.000-04:00"],
  ["America/New_York", "2026-11-01T06:00:00.000Z", "2026-11-01T01:00:00.000-05:00"],
  ["Australia/Lord_Howe", "2026-01-15T12:00:00.000Z", "2026-01-15T23:00:00.000+11:00"],
  ["Australia/Lord_Howe", "2026-07-15T12:00:00.000Z", "2026-07-15T22:30:00.000+10:30"],
])("current_time in %s at %s is %s", (timezone, at, iso) => {
  expect(told(timezone, at)).toEqual({ timestamp: Date.parse(at), iso, timezone })
})

test("law: in every time zone, the ISO text means the timestamp", () => {
  const someTime = fc.date({ min: new Date("2000-01-01"), max: new Date("2099-12-31"), noInvalidDate: true })
  fc.assert(
    fc.property(fc.constantFrom(...Intl.supportedValuesOf("timeZone")), someTime, (timezone, at) => {
      expect(Date.parse(told(timezone, at.toISOString()).iso)).toBe(at.getTime())
    }),
    { numRuns: 300 },
  )
})

test("current_time tells the time of the call, in the zone of the machine when none is given", async () => {
  const system = await openTestApp()
  const before = Date.now()
  const here = resultOrThrow(await system.call({ agentId: "operator", tool: "current_time", input: {} })) as Told
  expect(here.timezone).toBe(Intl.DateTimeFormat().resolvedOptions().timeZone)
  expect(here.timestamp).toBeGreaterThanOrEqual(before)
  expect(here.timestamp).toBeLessThanOrEqual(Date.now())
  expect(Date.parse(here.iso)).toBe(here.timestamp)
  const there = resultOrThrow(
    await system.call({
      agentId: "operator",
      tool: "current_time",
      input: { timezone: "Asia/Kolkata" },
    }),
  ) as Told
  expect(there).toMatchObject({ timezone: "Asia/Kolkata", iso: expect.stringMatching(/\+05:30$/) })
})

test("an unknown time zone is a sentence that says what to write", async () => {
  const system = await openTestApp()
  for (const timezone of ["Mars/Olympus", "UTC+99", "Asia Shanghai", "../etc/passwd"]) {
    expect(await system.call({ agentId: "operator", tool: "current_time", input: { timezone } })).toMatchObject({
      code: "tool_failed",
      error: `'${timezone}' is not a time zone. Use an IANA name, for example Europe/Berlin or UTC.`,
      metadata: { toolCode: "unknown_timezone" },
    })
  }
  expect(await system.call({ agentId: "operator", tool: "current_time", input: { timezone: "" } })).toMatchObject({
    code: "invalid_arguments",
  })
})

test("sleep takes seconds, and neither less than none nor more than its time limit allows", async () => {
  const system = await openTestApp()
  for (const duration of [-1, 590.1, 1e9, "1", null, NaN, Infinity]) {
    expect(await system.call({ agentId: "operator", tool: "sleep", input: { duration } })).toMatchObject({
      code: "invalid_arguments",
    })
  }
  const began = performance.now()
  expect(await sleep().execute({ duration: 0.03 }, minimal)).toEqual({ slept: 0.03 })
  expect(performance.now() - began).toBeGreaterThan(25)
  expect(sleep().timeoutMs).toBeGreaterThan(590_000)
})

test("get_env reads what there is, and null stands for what there is not", async () => {
  const environment = { LANG: "de_DE", EMPTY: "", GONE: undefined, "weird name": "汉" }
  const system = await openTestApp({}, { environment })
  const read = async (key: string) => (await system.call({ ...operator, tool: "get_env", input: { key } })).result
  expect(await read("LANG")).toEqual({ value: "de_DE" })
  expect(await read("EMPTY")).toEqual({ value: "" })
  expect(await read("weird name")).toEqual({ value: "汉" })
  for (const key of ["lang", "GONE", "NOTHING", "PATH"]) expect(await read(key)).toEqual({ value: null })
})

test("get_env reads the value that a variable has now", async () => {
  const environment: Record<string, string> = { LANG: "de_DE", GONE: "here" }
  const system = await openTestApp({}, { environment })
  const read = async (key: string) => (await system.call({ ...operator, tool: "get_env", input: { key } })).result
  expect([await read("LANG"), await read("GONE")]).toEqual([{ value: "de_DE" }, { value: "here" }])
  environment["LANG"] = "zh_CN"
  environment["NEW"] = "new"
  delete environment["GONE"]
  expect(await read("LANG")).toEqual({ value: "zh_CN" })
  expect([await read("GONE"), await read("NEW")]).toEqual([{ value: null }, { value: "new" }])
})

test("get_env never returns a property of a prototype", async () => {
  const system = await openTestApp({}, { environment: { LANG: "C" } })
  for (const key of ["constructor", "__proto__", "toString", "hasOwnProperty", "__defineGetter__", "valueOf"]) {
    expect(await system.call({ ...operator, tool: "get_env", input: { key } })).toMatchObject({
      success: true,
      result: { value: null },
    })
  }
})

const secretNames = [
  "AWS_SECRET_ACCESS_KEY",
  "AWS_ACCESS_KEY_ID",
  "OPENAI_API_KEY",
  "GITHUB_TOKEN",
  "npm_config__authToken",
  "PGPASSWORD",
  "DB_PASS",
  "MYSQL_PWD",
  "SSH_PASSPHRASE",
  "GH_PAT",
  "session_cookie",
  "SENTRY_DSN",
  "DATABASE_URL",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "PRIVATE_KEY",
  "JWT",
  "AZURE_STORAGE_CONNECTION_STRING",
  "HTTP_AUTHORIZATION",
]
const plainNames = [
  "PATH",
  "PWD",
  "OLDPWD",
  "HOME",
  "LANG",
  "TZ",
  "EDITOR",
  "SHELL",
  "NODE_ENV",
  "PATTERN",
  "COMPAT",
  "USER",
]

test("names that look secret are known, and plain ones are not taken for them", () => {
  expect(secretNames.filter((name) => !isSecretVariable(name))).toEqual([])
  expect(plainNames.filter(isSecretVariable)).toEqual([])
})

test("get_env hides variables whose names look secret, whoever set them, and set_env asks first", async () => {
  const environment = Object.fromEntries(secretNames.map((name) => [name, "hunter2"]))
  let asked = 0
  const system = await openTestApp({}, { environment, approvals: callbackAdapter({ onExecution: () => ++asked > 0 }) })
  for (const key of secretNames) {
    const result = await system.call({ ...operator, tool: "get_env", input: { key } })
    expect(result.result).toEqual({ value: null, hidden: true })
  }
  expect(asked).toBe(0)
  const set = (value: string) => system.call({ ...operator, tool: "set_env", input: { key: "MY_TOKEN", value } })
  expect(await set("hunter2")).toMatchObject({ result: { previous: null } })
  expect(await set("hunter3")).toMatchObject({ result: { previous: null } })
  expect(asked).toBe(2)
  expect(await system.call({ ...operator, tool: "get_env", input: { key: "MY_TOKEN" } })).toMatchObject({
    result: { value: null, hidden: true },
  })
})

test("set_env gives back what was set before, and get_env sees it in that session only", async () => {
  const environment = { LANG: "C" }
  const system = await openTestApp({}, { environment, approvals: yes })
  const set = async (sessionId: string, value: string) =>
    (await system.call({ ...operator, sessionId, tool: "set_env", input: { key: "QM_TEST_LANG", value } })).result
  const get = async (sessionId: string, key = "QM_TEST_LANG") =>
    (await system.call({ ...operator, sessionId, tool: "get_env", input: { key } })).result
  expect(await set("one", "first")).toEqual({ previous: null })
  expect(await set("one", "second 汉字")).toEqual({ previous: "first" })
  expect(await set("one", "")).toEqual({ previous: "second 汉字" })
  expect(await get("one")).toEqual({ value: "" })
  expect(await get("two")).toEqual({ value: null })
  expect(await set("two", "other")).toEqual({ previous: null })
  expect(await get("one")).toEqual({ value: "" })
  expect(process.env["QM_TEST_LANG"]).toBeUndefined()
  expect(environment).toEqual({ LANG: "C" })
})

test("what a session has set stands above the process's own variable", async () => {
  const system = await openTestApp({}, { environment: { LANG: "C" }, approvals: yes })
  await system.call({ ...operator, tool: "set_env", input: { key: "LANG", value: "de" } })
  const get = async (sessionId: string) =>
    (await system.call({ ...operator, sessionId, tool: "get_env", input: { key: "LANG" } })).result
  expect([await get("s1"), await get("s2")]).toEqual([{ value: "de" }, { value: "C" }])
})

test("what a session has set survives a restart", async () => {
  const first = await openTestApp({}, { approvals: yes })
  await first.call({ ...operator, tool: "set_env", input: { key: "STAGE", value: "two" } })
  await first.close()
  const second = await openTestApp({ data: { dir: first.dir } }, { environment: {} })
  expect(await second.call({ ...operator, tool: "get_env", input: { key: "STAGE" } })).toMatchObject({
    result: { value: "two" },
  })
})

test("a person sees what set_env would set, and a no sets nothing", async () => {
  const seen: unknown[] = []
  const approvals = callbackAdapter({
    onExecution: ({ level, request }) => {
      seen.push(level, request.preview)
      return { approved: false, rejectReason: "No." }
    },
  })
  const system = await openTestApp({}, { environment: {}, approvals })
  expect(await system.call({ ...operator, tool: "set_env", input: { key: "STAGE", value: "two" } })).toMatchObject({
    code: "approval_rejected",
  })
  expect(seen).toEqual(["moderate", "STAGE=two"])
  expect(await system.call({ ...operator, tool: "get_env", input: { key: "STAGE" } })).toMatchObject({
    result: { value: null },
  })
})

test("the record of set_env shows plain values and masks secret ones", async () => {
  const system = await openTestApp({}, { approvals: yes })
  const story = async (key: string, value: string) => {
    const { callId } = await system.call({ ...operator, tool: "set_env", input: { key, value } })
    return JSON.stringify(await system.audit.show(callId))
  }
  expect(await story("STAGE", "visible-value")).toContain("visible-value")
  for (const key of ["API_TOKEN", "DB_PASSWORD", "AWS_SECRET"]) {
    const shown = await story(key, "hunter-and-gatherer")
    expect(shown).toContain(key)
    expect(shown).not.toContain("hunter-and-gatherer")
  }
})

test("set_env takes names and values a system could take", async () => {
  const system = await openTestApp({}, { approvals: yes })
  const set = (key: unknown, value: unknown) => system.call({ ...operator, tool: "set_env", input: { key, value } })
  for (const key of ["", "1A", "A B", "A=B", "A\u0000", "Ä", "A".repeat(129), "__proto__.x", 1]) {
    expect(await set(key, "x")).toMatchObject({ code: "invalid_arguments" })
  }
  expect(await set("A", "x".repeat(32_769))).toMatchObject({ code: "invalid_arguments" })
  expect(await set("A", 1)).toMatchObject({ code: "invalid_arguments" })
  for (const value of ["a\u0000b", "a\ud83c"]) {
    expect(await set("A", value)).toMatchObject({
      code: "invalid_arguments",
      metadata: { problems: ["Parameter 'value' cannot contain NUL or half of a character"] },
    })
  }
  expect(await set("_".repeat(128), "x".repeat(32_768))).toMatchObject({ success: true })
  expect(await set("__proto__", "x")).toMatchObject({ result: { previous: null } })
  expect(await set("__proto__", "y")).toMatchObject({ result: { previous: "x" } })
})

test("get_env and set_env run without the app, with a minimal context", async () => {
  const kept = new Map<string, string>()
  const session: SessionEnvironment = {
    get: (_session, key) => Promise.resolve(kept.get(key)),
    set(_session, key, value) {
      const previous = kept.get(key)
      kept.set(key, value)
      return Promise.resolve(previous)
    },
    all: () => Object.fromEntries(kept),
  }
  expect(await setEnv(session, () => ({ C: "c", C_TOKEN: "c" })).execute({ key: "A", value: "1" }, minimal)).toEqual({
    previous: null,
  })
  expect(await setEnv(session, () => ({ C: "c", C_TOKEN: "c" })).execute({ key: "A", value: "2" }, minimal)).toEqual({
    previous: "1",
  })
  for (const [key, previous] of [
    ["C", "c"],
    ["C", "1"],
    ["C_TOKEN", null],
  ] as const)
    // prettier-ignore
    expect(await setEnv(session, () => ({ C: "c", C_TOKEN: "c" })).execute({ key, value: "1" }, minimal)).toEqual({ previous })
  expect(await getEnv(session, () => ({})).execute({ key: "A" }, minimal)).toEqual({ value: "2" })
  expect(await getEnv(session, () => ({ B: "3" })).execute({ key: "B" }, minimal)).toEqual({ value: "3" })
})
