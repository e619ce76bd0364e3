import { describe, expect, test } from "vitest"
import { deferred } from "../testing/test-app.ts"
import { requestContext, openConnection, stubSpec, textOf, until } from "../testing/mcp/connections.ts"
import type { ElicitAnswer } from "./connection-types.ts"

/** A connection with calls that run until the test ends, oldest first. */
async function connectWithRunningCalls(agents: readonly string[], era = "legacy") {
  const log2 = openConnection(stubSpec({ era }))
  await log2.connection.ensureConnected()
  const logs = new Map<string, unknown[]>()
  const asked: string[] = []
  const contextFor = (callId: string, agentId: string) => {
    const log: unknown[] = []
    logs.set(callId, log)
    return requestContext({
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
    void log2.connection.callTool("slow", {}, contextFor(`${agentId}${at}`, agentId)).catch(() => {})
  }
  return { ...log2, logs, asked, contextFor }
}

describe("a log or question of a server of 2025, which names no call,", () => {
  test("goes to the newest call if all calls are of one agent", async () => {
    const { connection, logs, asked, contextFor } = await connectWithRunningCalls(["ada", "ada"])
    await connection.callTool("log", { text: "one" }, contextFor("newest", "ada"))
    await connection.callTool("elicit", {}, contextFor("asking", "ada"))
    expect(logs.get("newest")).toEqual(["one"])
    expect(logs.get("ada0")).toEqual([])
    expect(asked).toEqual(["asking"])
  })

  test("while calls of several agents run, is logged for the operator or refused", async () => {
    const { connection, logs, asked, contextFor, infos } = await connectWithRunningCalls(["ada", "bob"])
    await connection.callTool("log", { text: "secret" }, contextFor("newest", "ada"))
    const result = await connection.callTool("elicit", {}, contextFor("asking", "ada"))
    expect([...logs.values()].flat()).toEqual([])
    expect(infos).toMatchObject([
      { message: "The MCP server stub sent a log message (info).", details: { data: "secret" } },
    ])
    expect(asked).toEqual([])
    expect(JSON.parse(textOf(result))).toMatchObject({
      error: { message: expect.stringContaining("calls of several agents run") as string },
    })
  })

  test("is refused while no call runs", async () => {
    const { connection, offers } = openConnection(stubSpec({ asks: "elicitation/create" }))
    await connection.ensureConnected()
    expect(offers).toHaveLength(1)
    const result = await connection.callTool("replies", {}, requestContext())
    expect(JSON.parse(textOf(result))).toMatchObject([
      { error: { message: "elicitation/create is only answered while a call runs, and none does." } },
    ])
  })
})

test("a question of the newer protocol belongs to its call, even if other agents have calls", async () => {
  const { connection, asked, contextFor } = await connectWithRunningCalls(["ada", "bob"], "modern")
  const [first, second] = await Promise.all([
    connection.callTool("elicit", {}, contextFor("first", "ada")),
    connection.callTool("elicit", {}, contextFor("second", "bob")),
  ])
  expect(asked.toSorted()).toEqual(["first", "second"])
  expect(JSON.parse(textOf(first))).toMatchObject({ result: { action: "decline" }, requestState: "state-1" })
  expect(JSON.parse(textOf(second))).toMatchObject({ result: { action: "decline" } })
})

test("a parked call of the newer protocol is polled until it ends", async () => {
  const { connection } = openConnection(stubSpec({ era: "modern" }))
  expect(textOf(await connection.callTool("park", {}, requestContext()))).toBe("parked 2 times")
  const stop = new AbortController()
  const call = connection.callTool("park", {}, requestContext({ signal: stop.signal }))
  setTimeout(() => stop.abort(), 20)
  await expect(call).rejects.toMatchObject({ code: "aborted" })
})

describe("sampling", () => {
  test("is by default not declared and refused with a sentence", async () => {
    const legacy = openConnection(stubSpec())
    const askCaller = () => Promise.reject(new Error("must not be asked"))
    const result = await legacy.connection.callTool("sample", {}, requestContext({ askCaller }))
    expect(JSON.parse(textOf(result))).toMatchObject({
      error: { code: -1, message: expect.stringContaining("Sampling is refused here") as string },
    })
    const modern = openConnection(stubSpec({ era: "modern" }))
    await expect(modern.connection.callTool("sample", {}, requestContext({ askCaller }))).rejects.toMatchObject({
      name: "ToolFailure",
      message: expect.stringContaining("Sampling is refused here") as string,
    })
    const declared = JSON.parse(
      textOf(await legacy.connection.callTool("capabilities", {}, requestContext())),
    ) as object
    expect(declared).toEqual({ elicitation: { form: {}, url: {} } })
  })

  test("is refused if the calling program cannot be asked", async () => {
    const { connection } = openConnection(stubSpec({}, { sampling: "caller" }))
    expect(JSON.parse(textOf(await connection.callTool("sample", {}, requestContext())))).toMatchObject({
      error: { message: expect.stringContaining("cannot be asked") as string },
    })
  })
})

test("a call that is cancelled while a person thinks ends at once", async () => {
  for (const era of ["legacy", "modern"]) {
    const { connection } = openConnection(stubSpec({ era }))
    const asked = deferred()
    const stop = new AbortController()
    const elicit = (): Promise<ElicitAnswer> => {
      asked.resolve()
      return new Promise(() => {})
    }
    const call = connection.callTool("elicit", {}, requestContext({ elicit, signal: stop.signal }))
    await asked.promise
    stop.abort()
    await expect(call).rejects.toMatchObject({ code: "aborted" })
  }
})

test("the key of a question in the newer protocol is passed on", async () => {
  const { connection } = openConnection(stubSpec({ era: "modern" }, { sampling: "caller" }))
  const keys: unknown[] = []
  await connection.callTool(
    "elicit",
    {},
    requestContext({
      elicit: (_, key) => {
        keys.push(key)
        return Promise.resolve({ action: "decline" })
      },
    }),
  )
  await connection.callTool(
    "sample",
    {},
    requestContext({
      askCaller: (method, _, __, key) => {
        keys.push(method, key)
        return Promise.resolve({ model: "m", role: "assistant", content: { type: "text", text: "yes" } })
      },
    }),
  )
  expect(keys).toEqual(["q", "sampling/createMessage", "q"])
})

test("in the newer protocol each call declares what can be asked within it", async () => {
  const { connection } = openConnection(stubSpec({ era: "modern" }, { sampling: "caller", roots: "caller" }))
  const declared = async (able?: { elicitation: boolean; sampling: boolean; roots: boolean }) =>
    Object.keys(
      JSON.parse(textOf(await connection.callTool("able", {}, requestContext({ able })))) as object,
    ).toSorted()
  expect(await declared()).toEqual(["elicitation", "roots", "sampling"])
  expect(await declared({ elicitation: false, sampling: true, roots: false })).toEqual(["sampling"])
  expect(await declared({ elicitation: true, sampling: false, roots: false })).toEqual(["elicitation"])
})

describe("a server that refuses until a person has opened a URL", () => {
  test("gets the call once more after the person accepted", async () => {
    const { connection } = openConnection(stubSpec())
    const asked: unknown[] = []
    const elicit = (params: Record<string, unknown>): Promise<ElicitAnswer> => {
      asked.push(params)
      return Promise.resolve({ action: "accept" })
    }
    expect(textOf(await connection.callTool("visit", {}, requestContext({ elicit })))).toBe("visited")
    expect(asked).toEqual([{ mode: "url", message: "Go.", url: "https://example.com/go", elicitationId: "v1" }])
  })

  test("does not get the call again if the person declined, nor more than once", async () => {
    const { connection } = openConnection(stubSpec({ visits: 2 }))
    const refused = { name: "ToolFailure", metadata: { rpcCode: -32042 } }
    await expect(connection.callTool("visit", {}, requestContext())).rejects.toMatchObject(refused)
    const elicit = (): Promise<ElicitAnswer> => Promise.resolve({ action: "decline" })
    await expect(connection.callTool("visit", {}, requestContext({ elicit }))).rejects.toMatchObject(refused)
    expect(textOf(await connection.callTool("visit", {}, requestContext()))).toBe("visited")
  })
})

test("a server can have only a few open questions at a time", async () => {
  const { connection } = openConnection(stubSpec())
  await connection.ensureConnected()
  let asked = 0
  const elicit = (): Promise<ElicitAnswer> => {
    asked++
    return new Promise(() => {})
  }
  connection.callTool("many", {}, requestContext({ elicit })).catch(() => {})
  const refusals = async () => {
    const replies = JSON.parse(textOf(await connection.callTool("replies", {}, requestContext()))) as {
      error?: unknown
    }[]
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
