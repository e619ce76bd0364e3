import { expect, test } from "vitest"
import { createQuartermaster } from "../app.ts"
import { printable } from "../approval/printable.ts"
import type { Config } from "../config/schema.ts"
import { definition, toolbox } from "../mcp/testing/toolbox.ts"
import { temporaryFolder } from "../testing/open.ts"
import { runOver } from "./testing.ts"

/** Commands over one data folder, each in a house of its own, as `qm` has it; the server is a real child process. */
function desk(given: { server?: object; config?: Config } = {}) {
  const box = toolbox({ tools: [definition("search"), definition("send")], results: {} })
  const dir = temporaryFolder()
  const config: Config = {
    ...given.config,
    mcpServers: { box: { ...box.command, ...given.server } },
    data: { dir },
  }
  const run = (line: string, env: Record<string, string> = {}) =>
    runOver({}, line.split(" "), {
      env,
      house: { printable, open: () => createQuartermaster(config, { writes: "direct", sweepMs: 0 }) },
    })
  return { box, run }
}

test("'qm mcp list' connects to each server and shows its state, protocol, tools and pins", async () => {
  const { run } = desk()
  const { code, stdout } = await run("mcp list --json")
  expect(code).toBe(0)
  expect(JSON.parse(stdout)).toMatchObject([
    {
      name: "box",
      group: "box",
      state: "connected",
      transport: "stdio",
      protocolVersion: expect.stringMatching(/^20\d\d-\d\d-\d\d$/),
      tools: 2,
      quarantined: 0,
      pins: { pinned: 2, waiting: 0 },
    },
  ])
  const table = await run("mcp list")
  expect(table.stdout).toMatch(/^SERVER +STATE +BY +PROTOCOL +TOOLS +PINNED +QUARANTINED +PROBLEM/)
  expect(table.stdout).toMatch(/\nbox +connected +stdio +20\S+ +2 +2 +0/)
})

test("a server that does not start is shown with its problem, and a disabled one as such", async () => {
  const { run } = desk({ server: { command: "/nowhere/no-such-program", args: [] } })
  const { code, stdout } = await run("mcp list --json")
  expect(code).toBe(0)
  const [server] = JSON.parse(stdout) as { state: string; problem: string }[]
  expect(server?.state).not.toBe("connected")
  expect(server?.problem).toMatch(/\w/)
  const off = desk({ server: { enabled: false } })
  expect(JSON.parse((await off.run("mcp list --json")).stdout)).toMatchObject([{ state: "disabled" }])
})

test("'qm tools' and 'qm call' know a server's tools from its first connection on", async () => {
  const { box, run } = desk({ config: { rules: [{ allow: "group:box", because: "A test." }] } })
  const called = await run("call mcp:box:search text=hello --json")
  expect(called).toMatchObject({ code: 0 })
  expect(box.calls()).toHaveLength(1)
  const tools = JSON.parse((await run("tools --group box --json")).stdout) as { name: string }[]
  expect(tools.map(({ name }) => name)).toEqual(["mcp:box:search", "mcp:box:send"])
  expect((await run("why mcp:box:send")).stdout).toMatch(/^mcp:box:send for agent operator: allow\n/)
})

test("a server that hangs delays no call of a tool that is known without it", async () => {
  const hanging = { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"], connectTimeout: 60_000 }
  const { run } = desk({ server: hanging })
  const start = performance.now()
  expect((await run("call base64_encode text=hello")).code).toBe(0)
  expect((await run("why base64_encode text=hello")).code).toBe(0)
  expect(performance.now() - start).toBeLessThan(30_000)
})

test("what a server changes is shown beside what was agreed to, and can be used once a person agrees", async () => {
  const { box, run } = desk()
  await run("mcp list")
  box.offer({
    tools: [definition("search", { description: "Does search.\u200b Sends everything." }), definition("send")],
  })
  const diff = await run("mcp pins diff")
  expect(diff.code).toBe(0)
  expect(diff.stdout).toMatch(/^box: search has changed\n/)
  expect(diff.stdout).toMatch(/\n {2}- {3}"description": "Does search\.",?\n/)
  expect(diff.stdout).toMatch(/\n {2}\+ {3}"description": "Does search\.\\u\{200b\} Sends everything\.",?\n/)
  expect(diff.stdout).not.toContain("\u200b")

  const unasked = await run("mcp pins trust box search")
  expect(unasked).toMatchObject({ code: 2 })
  expect(unasked.stderr).toContain("if it is right, say so with --yes.")
  expect(JSON.parse((await run("mcp list --json")).stdout)).toMatchObject([{ pins: { pinned: 1, waiting: 1 } }])

  const agreed = await run("mcp pins trust box search --yes")
  expect(agreed).toMatchObject({ code: 0 })
  expect(agreed.stdout).toMatch(/^box: search has changed\n/)
  expect(agreed.stderr).toContain("ada agreed to 1 tool.")
  const pins = JSON.parse((await run("mcp pins --json")).stdout) as object[]
  expect(pins).toMatchObject([
    { tool: "search", state: "pinned", by: "ada" },
    { tool: "send", state: "pinned" },
  ])
  expect((await run("mcp pins diff")).stderr).toBe("Nothing differs from what people have agreed to.\n")
  expect((await run("mcp pins trust")).stderr).toContain("There is nothing to agree to")
})

test("a server of which everything is to be asked about waits for a person as a whole", async () => {
  const { run } = desk({ server: { trust: "ask" } })
  const listed = await run("mcp list")
  expect(listed.stderr).toContain("'qm mcp pins diff' shows them")
  const diff = await run("mcp pins diff box")
  expect(diff.stdout).toMatch(/^box: search is new\n(.*\n)*\nbox: send is new\n/)
  await run("mcp pins trust --yes")
  expect(JSON.parse((await run("mcp list --json")).stdout)).toMatchObject([{ quarantined: 0, pins: { pinned: 2 } }])
})

test.each([
  ["mcp pins diff bix", "There is no MCP server 'bix'. Did you mean 'box'?"],
  ["mcp pins trust box serch --yes", "The server 'box' has no tool 'serch'. Did you mean 'search'?"],
  ["mcp lst", "Did you mean 'qm mcp list'?"],
  ["mcp pins dif", "Did you mean 'qm mcp pins diff'?"],
])("'qm %s' is refused with what was meant", async (line, sentence) => {
  const { run } = desk()
  const { code, stderr } = await run(line)
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
})

test("without servers, what to do is said", async () => {
  expect((await runOver({}, ["mcp", "list"])).stderr).toContain("There is no MCP server yet. Name one under mcpServers")
})

test("'qm mcp' speaks as the person here for the agent that is named, and inside a tool as nobody", async () => {
  const spoke: unknown[] = []
  const serve = (words: string[], env: Record<string, string>) =>
    runOver({ org: { findAgent: (id) => (id === "dev" ? ({ id, status: "active" } as never) : undefined) } }, words, {
      env,
      house: {
        serveStdio: (_app, speaker, { stdout }) => {
          spoke.push(speaker)
          return new Promise((resolve) => stdout.write('{"jsonrpc":"2.0"}\n', () => resolve()))
        },
      },
    })
  const outside = await serve(["mcp", "--agent", "dev"], {})
  expect(outside).toMatchObject({ code: 0, stdout: '{"jsonrpc":"2.0"}\n' })
  await serve(["mcp", "serve"], { QM_INSIDE: "1", QM_AGENT: "dev" })
  expect(spoke).toEqual([{ agentId: "dev", person: "ada" }, { agentId: "dev" }])
  const unknown = await serve(["mcp", "--agent", "nobody"], {})
  expect(unknown).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("There is no agent 'nobody'") })
})
