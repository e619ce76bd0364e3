import { expect, test } from "vitest"
import { failure } from "../../core/ending.ts"
import type { ToolSpec } from "../../core/tool.ts"
import { dataFolder, openTestApp, tool, until } from "../../testing/test-app.ts"
import type { Reflector } from "../reflection/reflector.ts"
import { modelOf, type PlayedTurn } from "../testing/played-model.ts"
import type { ToolChainOptions } from "./chain-options.ts"

const calls = (...names: string[]): PlayedTurn => ({ calls: names.map((name) => ({ name })) })

/** A tool that fails for now: at once, because it is not idempotent. */
const down = (name: string, more: Partial<ToolSpec<never>> = {}) =>
  tool({
    name,
    effect: "none",
    idempotent: false,
    ...more,
    execute() {
      throw failure("It is down.", { transient: true })
    },
  })

const tools = [
  tool({ name: "look", effect: "read", group: "reading", execute: () => "seen" }),
  tool({ name: "pay", effect: "communicate", permission: { level: "sensitive" }, execute: () => "paid" }),
  tool({
    name: "break",
    group: "breaking",
    execute() {
      throw new Error("It broke.")
    },
  }),
  down("remote", { group: "sources", fallback: ["spare"] }),
  down("spare", { group: "other" }),
  down("mirror", { group: "mirrors" }),
  tool({ name: "second_mirror", group: "mirrors", execute: () => "here" }),
]

async function openChain(model: ReturnType<typeof modelOf>, options: ToolChainOptions = {}) {
  const app = await openTestApp({ approvals: { unattended: "reject" } })
  app.registry.registerMany(tools)
  return app.chain("operator", { model, tools: tools.map(({ name }) => name), ...options })
}

const offered = ({ tools: given = [] }: { tools?: readonly { name: string }[] } = {}) => given.map(({ name }) => name)

test.each<[string, PlayedTurn, { gone: string[]; says: RegExp | undefined; verdict: string }]>([
  [
    "rejected: without that tool",
    calls("pay", "look"),
    { gone: ["pay"], says: /pay was refused and is no longer offered/, verdict: "replan" },
  ],
  [
    "transient: with the fallback",
    calls("remote"),
    { gone: [], says: /remote does not work at the moment\. Use spare instead of remote/, verdict: "replan" },
  ],
  [
    "transient without a fallback: with a tool of its group and effect",
    calls("mirror"),
    { gone: [], says: /Use second_mirror instead of mirror/, verdict: "replan" },
  ],
  ["another failure: as before", calls("break"), { gone: [], says: undefined, verdict: "continue" }],
])("the request after a failure is another one, %s", async (_, first, { gone, says, verdict }) => {
  const model = modelOf(first, { say: "Well." })
  const chain = await openChain(model)
  const result = await chain.run("Go.")
  expect(result).toMatchObject({ status: "completed", reflection: { verdict } })
  const [before, after] = model.requests
  expect(offered(before).filter((name) => !offered(after).includes(name))).toEqual(gone)
  const last = after!.messages.at(-1)!
  expect(last.role).toBe(says === undefined ? "tool" : "user")
  if (says !== undefined) expect(last.content).toMatch(says)
})

test("a tool is given up by the name the model knows, however it called it", async () => {
  const app = await openTestApp({
    approvals: { unattended: "reject" },
    org: {
      roles: [{ name: "coder", toolGroups: ["workspace"], dialect: "claude" }],
      agents: [{ id: "dev", role: "coder" }],
    },
  })
  const model = modelOf({ calls: [{ name: "write_file", input: { path: "a.txt", content: "a" } }] }, { say: "Well." })
  const { reflection } = await app.chain("dev", { model }).run("Write.")
  expect(reflection).toMatchObject({ verdict: "replan", withoutTools: ["Write"] })
  expect(offered(model.requests[0])).toContain("Write")
  expect(offered(model.requests[1])).not.toContain("Write")
})

test("when nothing is left that can be called, the model answers with what it has", async () => {
  const model = modelOf(calls("pay"), { say: "I could not pay.", ...calls("pay") })
  const chain = await openChain(model, { tools: ["pay"] })
  const result = await chain.run("Pay.")
  expect(result).toMatchObject({
    status: "completed",
    content: "I could not pay.",
    reflection: { verdict: "complete" },
  })
  expect(model.requests[1]).toMatchObject({ tools: [], toolChoice: "none" })
  expect(model.requests[1]!.messages.at(-1)!.content).toMatch(/Nothing is left that can be called/)
  expect(model.requests).toHaveLength(2)
})

test("a model that calls a tool that is no longer offered is told so, and nobody is asked again", async () => {
  const chain = await openChain(modelOf(calls("pay"), calls("pay"), { say: "I see." }))
  const { toolCallHistory, stats } = await chain.run("Pay.")
  expect(toolCallHistory.map(({ code, status }) => code ?? status)).toEqual(["approval_rejected", "not_executed"])
  expect(stats.calls).toBe(1)
})

test("the next message of a person brings the tool back", async () => {
  const model = modelOf(calls("pay"), { say: "No?" }, { say: "Again." })
  const chain = await openChain(model)
  await chain.run("Pay.")
  await chain.run("Try again, I will agree.")
  expect(offered(model.requests[1])).not.toContain("pay")
  expect(offered(model.requests[2])).toContain("pay")
})

test("with reflect false the model only sees the error", async () => {
  const model = modelOf(calls("pay"), { say: "Well." })
  const chain = await openChain(model, { reflect: false })
  expect(await chain.run("Pay.")).toMatchObject({ status: "completed", reflection: undefined })
  expect(offered(model.requests[1])).toEqual(offered(model.requests[0]))
  expect(model.requests[1]!.messages.at(-1)!.role).toBe("tool")
})

test("a reflector of your own decides, and sees what was done and what can be called", async () => {
  const seen: unknown[] = []
  const own: Reflector = {
    reflect(input) {
      seen.push(input)
      return { verdict: "complete", assessment: "Enough.", lessons: ["Never break."], nextFocus: "Stop." }
    },
  }
  const model = modelOf(calls("look", "break"), { say: "Fine." })
  const chain = await openChain(model, { reflect: own })
  expect(await chain.run("Do it.")).toMatchObject({ status: "completed", reflection: { assessment: "Enough." } })
  expect(seen).toMatchObject([
    {
      goal: "Do it.",
      actionsDone: [
        { toolName: "look", success: true },
        { toolName: "break", success: false, code: "tool_failed" },
      ],
      failures: [{ toolName: "break", stepId: "r2" }],
      tools: expect.arrayContaining([{ name: "look", group: "reading", effect: "read", fallbacks: [] }]),
    },
  ])
  expect(model.requests[1]!.messages.at(-1)).toEqual({ role: "user", content: "Enough. Never break. Stop." })
  expect(model.requests[1]!.toolChoice).toBe("none")
})

test.each<[string, Reflector]>([
  ["throws", { reflect: () => Promise.reject(new Error("No idea.")) }],
  ["decides nonsense", { reflect: () => ({ verdict: "maybe" }) as never }],
])("a reflector that %s is reported, and our rules decide", async (_, reflect) => {
  const phases: string[] = []
  const model = modelOf(calls("pay"), { say: "Well." })
  const chain = await openChain(model, { reflect, onError: (_error, phase) => phases.push(phase) })
  expect(await chain.run("Pay.")).toMatchObject({ status: "completed", reflection: { withoutTools: ["pay"] } })
  expect(phases).toEqual(["reflection"])
})

test("a run is stopped while a reflector takes its time", async () => {
  let reflecting = false
  const slow: Reflector = { reflect: () => ((reflecting = true), new Promise(() => {})) }
  const chain = await openChain(modelOf(calls("break")), { reflect: slow })
  const running = chain.run("Go.")
  await until(() => reflecting, "it reflects")
  chain.stop()
  expect(await running).toMatchObject({ status: "aborted" })
})

test("what was decided is a turn: after a restart the next request is the same", async () => {
  const dir = await dataFolder()
  const open = async (model: ReturnType<typeof modelOf>) => {
    const app = await openTestApp({ data: { dir }, approvals: { unattended: "reject" } }, { models: { played: model } })
    app.registry.registerMany(tools)
    return app
  }
  const whole = modelOf(calls("pay"), { say: "Well." })
  await (await open(whole)).chain("operator", { durable: true }).run("Pay.")

  // The model is asked a second time when the process ends.
  const first = modelOf(calls("pay"))
  const app = await open({
    ...first,
    stream: (request) => (first.requests.length > 0 ? hang() : first.stream(request)),
  })
  let asked = false
  const hang = async function* () {
    asked = true
    yield await new Promise<never>(() => {})
  }
  const chain = app.chain("operator", { durable: true })
  void chain.run("Pay.")
  await until(() => asked, "it is asked again")
  await app.close()
  const second = modelOf({ say: "Well." })
  const resumed = await open(second)
  await resumed.chain("operator", { id: chain.id }).resume()
  expect(second.requests[0]!.messages.at(-1)).toEqual(whole.requests[1]!.messages.at(-1))
  expect(offered(second.requests[0])).toEqual(offered(whole.requests[1]))
  expect((await resumed.conversations.turns(chain.id)).map(({ kind }) => kind)).toEqual([
    "user",
    "assistant",
    "results",
    "reflection",
    "assistant",
    "end",
  ])
})
