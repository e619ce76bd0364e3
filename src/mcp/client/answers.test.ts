import { describe, expect, test } from "vitest"
import { deferred } from "../../testing/open.ts"
import { asking, connect, stubSpec, textOf, until } from "../testing/connections.ts"
import type { ElicitAnswer } from "./connection.ts"

/** Calls that stay under way until the test is over, oldest first. */
async function underWay(agents: readonly string[], era = "legacy") {
  const heard = connect(stubSpec({ era }))
  await heard.connection.ensure()
  const logs = new Map<string, unknown[]>()
  const asked: string[] = []
  const given = (callId: string, agentId: string) => {
    const log: unknown[] = []
    logs.set(callId, log)
    return asking({
      callId,
      agentId,
      onLog: (message) => log.push(message.data),
      elicit: (): Promise<ElicitAnswer> => {
        asked.push(callId)
        return Promise.resolve({ action: "decline" })
      },
    })
  }
  for (const [at, agentId] of agents.entries()) {
    void heard.connection.callTool("slow", {}, given(`${agentId}${at}`, agentId)).catch(() => {})
  }
  return { ...heard, logs, asked, given }
}

describe("what a server of 2025 says without naming a call", () => {
  test("goes to the newest call of the one agent that has any", async () => {
    const { connection, logs, asked, given } = await underWay(["ada", "ada"])
    await connection.callTool("log", { text: "one" }, given("newest", "ada"))
    await connection.callTool("elicit", {}, given("asking", "ada"))
    expect(logs.get("newest")).toEqual(["one"])
    expect(logs.get("ada0")).toEqual([])
    expect(asked).toEqual(["asking"])
  })

  test("goes to nobody while calls of several agents run: logs to the operator, questions are refused", async () => {
    const { connection, logs, asked, given, infos } = await underWay(["ada", "bob"])
    await connection.callTool("log", { text: "secret" }, given("newest", "ada"))
    const result = await connection.callTool("elicit", {}, given("asking", "ada"))
    expect([...logs.values()].flat()).toEqual([])
    expect(infos).toMatchObject([{ message: "The MCP server stub says (info).", details: { data: "secret" } }])
    expect(asked).toEqual([])
    expect(JSON.parse(textOf(result))).toMatchObject({
      error: { message: expect.stringContaining("calls of several agents run") as string },
    })
  })

  test("is refused while no call runs", async () => {
    const { connection, offers } = connect(stubSpec({ asks: "elicitation/create" }))
    await connection.ensure()
    expect(offers).toHaveLength(1)
    const result = await connection.callTool("replies", {}, asking())
    expect(JSON.parse(textOf(result))).toMatchObject([
      { error: { message: "elicitation/create is only answered while a call runs, and none does." } },
    ])
  })
})

test("a question of the newer protocol belongs to its call, whoever else has calls there", async () => {
  const { connection, asked, given } = await underWay(["ada", "bob"], "modern")
  const [first, second] = await Promise.all([
    connection.callTool("elicit", {}, given("first", "ada")),
    connection.callTool("elicit", {}, given("second", "bob")),
  ])
  expect(asked.toSorted()).toEqual(["first", "second"])
  expect(JSON.parse(textOf(first))).toMatchObject({ result: { action: "decline" }, requestState: "state-1" })
  expect(JSON.parse(textOf(second))).toMatchObject({ result: { action: "decline" } })
})

test("a call of the newer protocol that is parked is asked for until it is done", async () => {
  const { connection } = connect(stubSpec({ era: "modern" }))
  expect(textOf(await connection.callTool("park", {}, asking()))).toBe("parked 2 times")
  const stop = new AbortController()
  const call = connection.callTool("park", {}, asking({ signal: stop.signal }))
  setTimeout(() => stop.abort(), 20)
  await expect(call).rejects.toMatchObject({ code: "aborted" })
})

describe("sampling", () => {
  test("is not announced, and refused with a sentence, where nothing else is configured", async () => {
    const legacy = connect(stubSpec())
    const askCaller = () => Promise.reject(new Error("must not be asked"))
    const result = await legacy.connection.callTool("sample", {}, asking({ askCaller }))
    expect(JSON.parse(textOf(result))).toMatchObject({
      error: { code: -1, message: expect.stringContaining("Sampling is refused here") as string },
    })
    const modern = connect(stubSpec({ era: "modern" }))
    await expect(modern.connection.callTool("sample", {}, asking({ askCaller }))).rejects.toMatchObject({
      name: "ToolFailure",
      message: expect.stringContaining("Sampling is refused here") as string,
    })
    const told = JSON.parse(textOf(await legacy.connection.callTool("capabilities", {}, asking()))) as object
    expect(told).toEqual({ elicitation: { form: {}, url: {} }, roots: {} })
  })

  test("is refused where the program that called cannot be asked", async () => {
    const { connection } = connect(stubSpec({}, { sampling: "caller" }))
    expect(JSON.parse(textOf(await connection.callTool("sample", {}, asking())))).toMatchObject({
      error: { message: expect.stringContaining("cannot be asked") as string },
    })
  })
})

test("a call that is cancelled while a person thinks ends at once", async () => {
  for (const era of ["legacy", "modern"]) {
    const { connection } = connect(stubSpec({ era }))
    const asked = deferred()
    const stop = new AbortController()
    const elicit = (): Promise<ElicitAnswer> => {
      asked.resolve()
      return new Promise(() => {})
    }
    const call = connection.callTool("elicit", {}, asking({ elicit, signal: stop.signal }))
    await asked.promise
    stop.abort()
    await expect(call).rejects.toMatchObject({ code: "aborted" })
  }
})

test("the name a server of the newer protocol has for its question goes with it", async () => {
  const { connection } = connect(stubSpec({ era: "modern" }, { sampling: "caller" }))
  const keys: unknown[] = []
  await connection.callTool(
    "elicit",
    {},
    asking({
      elicit: (_, key) => {
        keys.push(key)
        return Promise.resolve({ action: "decline" })
      },
    }),
  )
  await connection.callTool(
    "sample",
    {},
    asking({
      askCaller: (method, _, __, key) => {
        keys.push(method, key)
        return Promise.resolve({ model: "m", role: "assistant", content: { type: "text", text: "yes" } })
      },
    }),
  )
  expect(keys).toEqual(["q", "sampling/createMessage", "q"])
})

test("a server of the newer protocol is told with each call what can be asked within it", async () => {
  const { connection } = connect(stubSpec({ era: "modern" }, { sampling: "caller", roots: "caller" }))
  const told = async (able?: { elicitation: boolean; sampling: boolean; roots: boolean }) =>
    Object.keys(JSON.parse(textOf(await connection.callTool("able", {}, asking({ able })))) as object).toSorted()
  expect(await told()).toEqual(["elicitation", "roots", "sampling"])
  expect(await told({ elicitation: false, sampling: true, roots: false })).toEqual(["sampling"])
  expect(await told({ elicitation: true, sampling: false, roots: false })).toEqual(["elicitation"])
})

describe("a server that refuses until a person has been somewhere", () => {
  test("is asked once more after the person agreed to go", async () => {
    const { connection } = connect(stubSpec())
    const asked: unknown[] = []
    const elicit = (params: Record<string, unknown>): Promise<ElicitAnswer> => {
      asked.push(params)
      return Promise.resolve({ action: "accept" })
    }
    expect(textOf(await connection.callTool("visit", {}, asking({ elicit })))).toBe("visited")
    expect(asked).toEqual([{ mode: "url", message: "Go.", url: "https://example.com/go", elicitationId: "v1" }])
  })

  test("is not asked again when the person did not go, nor more than once", async () => {
    const { connection } = connect(stubSpec({ visits: 2 }))
    const refused = { name: "ToolFailure", metadata: { rpcCode: -32042 } }
    await expect(connection.callTool("visit", {}, asking())).rejects.toMatchObject(refused)
    const elicit = (): Promise<ElicitAnswer> => Promise.resolve({ action: "decline" })
    await expect(connection.callTool("visit", {}, asking({ elicit }))).rejects.toMatchObject(refused)
    expect(textOf(await connection.callTool("visit", {}, asking()))).toBe("visited")
  })
})

test("a server cannot have more than a few questions before a person at a time", async () => {
  const { connection } = connect(stubSpec())
  await connection.ensure()
  let asked = 0
  const elicit = (): Promise<ElicitAnswer> => {
    asked++
    return new Promise(() => {})
  }
  connection.callTool("many", {}, asking({ elicit })).catch(() => {})
  const refusals = async () => {
    const replies = JSON.parse(textOf(await connection.callTool("replies", {}, asking()))) as { error?: unknown }[]
    return replies.filter(({ error }) => error !== undefined)
  }
  await until(() => asked === 8)
  let refused = await refusals()
  for (let tries = 0; tries < 100 && refused.length < 12; tries++) {
    await new Promise((resolve) => setTimeout(resolve, 20))
    refused = await refusals()
  }
  expect(refused).toHaveLength(12)
  expect(asked).toBe(8)
  expect(refused[0]).toMatchObject({
    error: { message: expect.stringContaining("Only 8 questions") as string },
  })
})
