import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { userInfo } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { definition, toolbox } from "../../../../testing/mcp/toolbox.ts"
import { dist, makeCli } from "../../testing.ts"

/** A stock client that starts `qm mcp` as `qm install` writes it. */
async function clientFor(cwd: string, agent: string, home: string, ...more: string[]): Promise<Client> {
  const client = new Client({ name: "stock", version: "1" })
  await client.connect(transportFor(cwd, agent, home, ...more))
  onTestFinished(() => client.close())
  return client
}

function transportFor(cwd: string, agent: string, home: string, ...more: string[]): StdioClientTransport {
  return new StdioClientTransport({
    command: process.execPath,
    args: [join(dist, "qm.js"), "-C", cwd, "mcp", "--agent", agent, ...more],
    env: { PATH: process.env["PATH"] ?? "", HOME: home },
    stderr: "pipe",
  })
}

test("with --builtin a client is shown these groups of built-in tools, and every tool of a server", async () => {
  const cli = makeCli()
  const box = toolbox({ tools: [definition("search")] })
  cli.write("quartermaster.yml", JSON.stringify({ mcpServers: { box: box.command } }))
  await cli.run("trust", "--yes")
  await cli.run("mcp", "list")
  const client = await clientFor(cli.cwd, "operator", cli.home, "--builtin", "data")
  const names = (await client.listTools()).tools.map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(["base64_encode", "box__search"]))
  expect(names).not.toContain("read_file")
  const wrong = await cli.run("mcp", "--builtin", "dat")
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining("Did you mean 'data'?") as string })
})

test("two agents with different roles see different lists over stdio, and call what they see", async () => {
  const cli = makeCli()
  const home = join(cli.cwd, "..", "home")
  const box = toolbox({ tools: [definition("search")] })
  const config = {
    mcpServers: { box: box.command },
    org: {
      roles: [
        { name: "searcher", toolGroups: ["box"] },
        { name: "worker", toolGroups: ["data"] },
      ],
      agents: [
        { id: "one", role: "searcher" },
        { id: "two", role: "worker" },
      ],
    },
    rules: [{ allow: "group:box", because: "A test." }],
  }
  cli.write("quartermaster.yml", JSON.stringify(config))
  expect((await cli.run("trust", "--yes")).code).toBe(0)
  expect((await cli.run("mcp", "list")).code).toBe(0)
  const [one, two] = [await clientFor(cli.cwd, "one", home), await clientFor(cli.cwd, "two", home)]
  const names = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name)
  expect(await names(one)).toEqual(["box__search"])
  expect(await names(two)).toContain("base64_encode")
  expect(await names(two)).not.toContain("box__search")
  await one.callTool({ name: "box__search", arguments: { text: "hello" } })
  expect(box.calls()).toHaveLength(1)
  const encoded = await two.callTool({ name: "base64_encode", arguments: { text: "hello" } })
  expect(JSON.stringify(encoded)).toContain("aGVsbG8=")
  await one.close()
  await two.close()
  const calls = JSON.parse((await cli.run("audit", "list", "--json")).stdout) as { agentId: string; tool: string }[]
  expect(calls.map(({ agentId, tool }) => `${agentId} ${tool}`).sort()).toEqual([
    "one mcp:box:search",
    "two base64_encode",
  ])
})

test("a call that needs approval is answered in the client by one who takes the time to read, as the person at this terminal", async () => {
  const cli = makeCli()
  const home = join(cli.cwd, "..", "home")
  const client = new Client({ name: "stock", version: "1" }, { capabilities: { elicitation: { form: {} } } })
  const asked: string[] = []
  client.setRequestHandler("elicitation/create", ({ params }) => {
    asked.push(params.message)
    // An answer within half a second does not count as a person's.
    return new Promise((answer) => setTimeout(() => answer({ action: "accept", content: { decision: "once" } }), 600))
  })
  await client.connect(transportFor(cli.cwd, "operator", home))
  onTestFinished(() => client.close())
  const result = await client.callTool({ name: "set_env", arguments: { key: "A", value: "1" } })
  expect(result.isError ?? false).toBe(false)
  expect(asked).toEqual([expect.stringContaining("set_env")])
  await client.close()
  const [row] = JSON.parse((await cli.run("audit", "list", "--json")).stdout) as { callId: string }[]
  const story = JSON.parse((await cli.run("audit", "show", row?.callId ?? "", "--json")).stdout) as object[]
  expect(JSON.stringify(story)).toMatch(new RegExp(`"by":"${userInfo().username}(@localhost)?"`))
})

test("an unknown agent is reported on stderr, and stdout stays empty", async () => {
  expect(await makeCli().run("mcp", "--agent", "nobody")).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("There is no agent 'nobody'"),
  })
})

test("qm mcp ends when stdin ends", async () => {
  expect(await makeCli().runWith("", "mcp")).toMatchObject({ code: 0, stdout: "" })
})
