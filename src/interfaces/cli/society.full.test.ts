import { expect, onTestFinished, test } from "vitest"
import { startModelServer } from "../../agents/testing/model-server.ts"
import { createClient } from "../client/client.ts"
import { openTestApp, until } from "../../testing/test-app.ts"
import { makeCli, outputOf, waitForOutput } from "./testing.ts"

test("two servers on one folder: one is killed in the middle of a task, the other goes on, and nothing happens twice", async () => {
  const model = await startModelServer()
  onTestFinished(() => model.close())
  model.reply({ calls: [{ id: "1", name: "current_time", arguments: {} }] }, { text: "I th", then: "hang" })
  const cli = makeCli()
  cli.write(
    "quartermaster.yml",
    `models: { main: { provider: openai-compatible, baseUrl: "${model.openai}", model: x } }\n`,
  )
  await cli.run("trust", "--yes")
  const servers = [0, 1].map(() => cli.start("serve", "--port", "0"))
  const ended = servers.map((server) => outputOf(server, ""))
  await Promise.all(servers.map((server) => waitForOutput(server, "Press Ctrl-C to stop.")))
  const sent = JSON.parse((await cli.run("agents", "message", "operator", "What time is it?", "--json")).stdout) as {
    id: string
  }
  await until(() => model.requests.length === 2, "the model is asked for the second time")

  const app = await openTestApp({ data: { dir: cli.dataDir } })
  const owned = async () => (await app.conversations.list({ agentId: "operator" })).conversations[0]!
  const [, pid] = (await owned()).owner.split("|")
  const killed = servers.findIndex((server) => server.pid === Number(pid))
  model.reply({ text: "Noon." })
  servers[killed]!.kill("SIGKILL")
  await ended[killed]

  expect((await app.society.answer(sent.id))?.payload).toBe("Noon.")
  const turns = await app.conversations.turns((await owned()).id)
  expect(turns.map(({ kind }) => kind)).toEqual(["user", "assistant", "results", "assistant", "end"])
  expect(model.requests).toHaveLength(3)
  expect(await app.org.inbox("user")).toHaveLength(1)
  servers[1 - killed]!.kill("SIGTERM")
  await ended[1 - killed]
})

const team = (baseUrl: string) => `
models:
  default: lead
  lead: { provider: scripted, script: lead.yml }
  dev: { provider: openai-compatible, baseUrl: "${baseUrl}", model: x }
org:
  roles:
    - { name: lead, toolGroups: [org_management], llmServiceId: lead }
    - { name: dev, toolGroups: [], llmServiceId: dev }
  agents: [{ id: lea, role: lead }, { id: dan, role: dev, parent: lea }]
rules: [{ allow: send_message, because: the test }]
`

test("a conversation begun over HTTP goes on in the next server when the one that began it is killed while others work", async () => {
  const model = await startModelServer()
  onTestFinished(() => model.close())
  model.reply({ text: "I th", then: "hang" })
  const cli = makeCli()
  cli.write("quartermaster.yml", team(model.openai))
  cli.write(
    "lead.yml",
    "- call: { send_message: { to: dan, payload: Well? } }\n- say: Asked.\n- say: dan has answered.\n",
  )
  await cli.run("trust", "--yes")
  const { token } = JSON.parse((await cli.run("tokens", "create", "--agent", "lea", "--json")).stdout) as {
    token: string
  }

  const first = await serveAndConnect()
  const { id } = await first.client.chains.create({ message: "What does dan say?" })
  await until(() => model.requests.length === 1, "dan works")
  await until(async () => (await first.client.chains.get(id)).state === "idle", "lea has ended its turn")
  expect(await first.client.chains.get(id)).toMatchObject({ content: "Asked.", awaits: ["dan"] })
  first.server.kill("SIGKILL")
  await first.ended

  model.reply({ text: "Forty-two." })
  const second = await serveAndConnect()
  await until(async () => (await second.client.chains.get(id)).content === "dan has answered.", "lea goes on")
  await until(async () => (await second.client.chains.get(id)).state === "idle", "lea has ended its turn")
  const { items, agents } = await second.client.chains.turns(id)
  expect(items.map(({ kind }) => kind)).toEqual("user assistant results assistant end user assistant end".split(" "))
  expect(agents.map(({ type, agentId, depth }) => [type, agentId, depth])).toEqual([
    ["woken", "dan", 1],
    ["answered", "dan", 1],
  ])
  expect(model.requests).toHaveLength(2)
  second.server.kill("SIGTERM")
  await second.ended

  async function serveAndConnect() {
    const server = cli.start("serve", "--port", "0", "--json")
    const ended = outputOf(server, "")
    let printed = ""
    server.stdout!.on("data", (chunk: Buffer) => (printed += chunk.toString()))
    await until(() => printed.includes("}"), "it listens")
    const { url } = JSON.parse(printed) as { url: string }
    return { server, ended, client: createClient({ baseUrl: url, token }) }
  }
})

test("qm agents watch prints what changes, one JSON object a line", async () => {
  const model = await startModelServer()
  onTestFinished(() => model.close())
  model.reply({ text: "Hello." })
  const cli = makeCli()
  cli.write(
    "quartermaster.yml",
    `models: { main: { provider: openai-compatible, baseUrl: "${model.openai}", model: x } }\n`,
  )
  await cli.run("trust", "--yes")
  const server = cli.start("serve", "--port", "0")
  const served = outputOf(server, "")
  await waitForOutput(server, "Press Ctrl-C to stop.")
  const watch = cli.start("agents", "watch", "--json")
  const watched = outputOf(watch, "")
  await waitForOutput(watch, "operator")
  const answer = await cli.run("agents", "message", "root", "Hello?", "--wait")
  expect(answer).toMatchObject({ code: 0, stdout: "Hello.\n" })
  watch.kill("SIGINT")
  const { code, stdout } = await watched
  const lines = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { agentId: string; state: string })
  expect(code).toBe(0)
  expect(lines.map(({ agentId }) => agentId)).toContain("root")
  server.kill("SIGTERM")
  await served
})
