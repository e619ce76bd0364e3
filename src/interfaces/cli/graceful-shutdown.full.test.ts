import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { until } from "../../testing/test-app.ts"
import { makeCli, outputOf } from "./testing.ts"

const config = `
org:
  roles: [{ name: worker, toolGroups: [command, workspace] }]
  agents: [{ id: dev, role: worker }]
tools:
  shell: { allow: [touch, sleep] }
rules:
  - { allow: run_command, touching: ["command:touch *", "command:sleep *"], because: the test }
`

test("SIGTERM ends a running call and leaves a waiting one, which is answered after the next start", async () => {
  const cli = makeCli()
  writeFileSync(join(cli.cwd, "given.yml"), config)
  const given = ["--config", join(cli.cwd, "given.yml")]
  const { stdout } = await cli.run("tokens", "create", "--agent", "dev", "--json", ...given)
  const { token } = JSON.parse(stdout) as { token: string }
  const start = async () => {
    const server = cli.start("serve", "--port", "0", "--json", ...given)
    const line = await new Promise<string>((resolve) => server.stdout?.once("data", (part: string) => resolve(part)))
    const { url } = JSON.parse(line) as { url: string }
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    return { server, done: outputOf(server, ""), ask }
  }

  const first = await start()
  const command = "touch started && sleep 600"
  const running = first.ask("POST", "/v1/tools/run_command/call", { input: { command }, wait: 60 })
  const input = { path: "later.txt", content: "written after the restart" }
  const waiting = first.ask("POST", "/v1/tools/write_file/call", { input, wait: 60 })
  const listed = async () =>
    (JSON.parse((await cli.run("approvals", "list", "--json", ...given)).stdout) as { callId: string }[]).length
  await until(() => existsSync(join(cli.cwd, "started")), "the command runs")
  await until(async () => (await listed()) === 1, "the other call waits")
  first.server.kill("SIGTERM")

  const ended = await running
  expect(ended).toMatchObject({ status: 200, body: { success: false, code: "aborted" } })
  const ticket = await waiting
  expect(ticket).toMatchObject({ status: 202, body: { state: "waiting" } })
  expect(await first.done).toMatchObject({ code: 0 })
  expect(await listed()).toBe(1)

  const second = await start()
  const callId = String(ticket.body["callId"])
  const result = second.ask("GET", `/v1/calls/${callId}?wait=60`)
  expect(await cli.run("approvals", "approve", callId, ...given)).toMatchObject({ code: 0 })
  expect(await result).toMatchObject({ status: 200, body: { success: true } })
  expect(existsSync(join(cli.cwd, "later.txt"))).toBe(true)
  second.server.kill("SIGTERM")
  expect(await second.done).toMatchObject({ code: 0 })
  const entries = JSON.parse((await cli.run("audit", "show", String(ended.body["callId"]), "--json", ...given)).stdout)
  expect(JSON.stringify(entries)).toContain('"aborted"')
})
