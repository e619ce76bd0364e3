import { existsSync, rmSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { until } from "../../../../testing/test-app.ts"
import { makeCli, outputOf } from "../../testing.ts"

/** `qm serve --sample` in an empty folder, and a signed-in client. */
async function startSample(cli: ReturnType<typeof makeCli>) {
  const server = cli.start("serve", "--sample", "--port", "0")
  const done = outputOf(server, "")
  onTestFinished(() => void server.kill("SIGKILL"))
  let printed = ""
  server.stdout?.on("data", (part: string) => (printed += part))
  const link = await new Promise<URL>((resolve) => {
    server.stdout?.on("data", () => {
      const found = /http:\S+\/signin#\S+/.exec(printed)
      if (found !== null) resolve(new URL(found[0]))
    })
  })
  const signIn = async (url: URL) => {
    const response = await fetch(`${url.origin}/v1/session`, {
      method: "POST",
      headers: { "content-type": "application/json", "x-quartermaster": "1" },
      body: JSON.stringify({ link: url.hash.slice(1) }),
    })
    const [cookie = ""] = (response.headers.get("set-cookie") ?? "").split(";")
    const { secret } = (await response.json()) as { secret: string }
    return async (method: string, path: string, body?: unknown) => {
      const answer = await fetch(`${url.origin}${path}`, {
        method,
        headers: { cookie, "content-type": "application/json", "x-quartermaster-session": secret },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return { status: answer.status, body: (await answer.json()) as never }
    }
  }
  return { server, done, printed: () => printed, link, signIn }
}

/** The last of them is a call of a conversation, which comes when its model has answered. */
function fourWait(ask: (method: string, path: string) => Promise<{ body: never }>): Promise<void> {
  return until(async () => ((await ask("GET", "/v1/me")).body as { waiting: number }).waiting === 4, "four calls wait")
}

test("a second start of the sample says where it runs, with a link, and ends well", async () => {
  const cli = makeCli()
  const { server, done, link } = await startSample(cli)
  expect(await cli.run("serve", "--sample")).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      new RegExp(`already serves this folder at ${link.origin} [\\s\\S]*${link.origin}/signin#`),
    ),
  })
  server.kill("SIGTERM")
  await done
})

test("the first start makes a sample, prints one link that signs in, and the sample is removed without a trace but the log", async () => {
  const cli = makeCli()
  const { server, done, printed, link, signIn } = await startSample(cli)
  expect(printed().trim().endsWith(link.href)).toBe(true)
  const ask = await signIn(link)
  expect(await ask("GET", "/v1/me")).toMatchObject({
    status: 200,
    body: { sample: true, scopes: ["read", "call", "approve", "manage"] },
  })
  await fourWait(ask)
  expect(await ask("GET", "/v1/agents")).toMatchObject({
    body: { items: expect.arrayContaining([expect.objectContaining({ id: "dev", roleName: "developer" })]) },
  })
  const read = { agentId: "dev", input: { path: "src/greet.js" } }
  expect(await ask("POST", "/v1/tools/read_file/call", read)).toMatchObject({ body: { success: true } })
  const again = await cli.run("open", "--json")
  expect((await (await signIn(new URL(JSON.parse(again.stdout).url)))("GET", "/v1/me")).status).toBe(200)
  const { token } = JSON.parse((await cli.run("tokens", "create", "--agent", "dev", "--json")).stdout) as {
    token: string
  }
  const headers = { authorization: `Bearer ${token}` }
  expect((await fetch(`${link.origin}/v1/me`, { headers })).status).toBe(200)
  expect(existsSync(cli.dataDir)).toBe(false)
  expect(await ask("DELETE", "/v1/sample")).toMatchObject({
    status: 200,
    body: { agents: 3, roles: 3, departments: 2, files: 5 },
  })
  expect(await ask("GET", "/v1/me")).toMatchObject({ body: { sample: false, waiting: 0 } })
  expect(existsSync(join(cli.cwd, "quartermaster-sample/workspace/src/greet.js"))).toBe(false)
  expect(await ask("POST", "/v1/audit/verify", {})).toMatchObject({ body: { ok: true } })
  server.kill("SIGTERM")
  expect((await done).code).toBe(0)
  expect(await cli.run("open")).toMatchObject({ code: 1, stderr: expect.stringContaining("No server runs here") })
})

test("a sample that was removed is made again once its folder is deleted, and not before", async () => {
  const cli = makeCli()
  const first = await startSample(cli)
  await (
    await first.signIn(first.link)
  )("DELETE", "/v1/sample")
  first.server.kill("SIGTERM")
  await first.done
  const second = await startSample(cli)
  expect(await (await second.signIn(second.link))("GET", "/v1/me")).toMatchObject({ body: { sample: false } })
  second.server.kill("SIGTERM")
  const sample = join(cli.cwd, "quartermaster-sample")
  expect((await second.done).stderr).toContain(
    `The sample was removed earlier, so it is not made again. To have it again, stop this server, delete ${sample} and`,
  )
  rmSync(sample, { recursive: true })
  const third = await startSample(cli)
  const asked = await third.signIn(third.link)
  expect(await asked("GET", "/v1/me")).toMatchObject({ body: { sample: true } })
  await fourWait(asked)
  third.server.kill("SIGTERM")
  expect((await third.done).code).toBe(0)
})

test("where there is a configuration or data, --sample makes nothing and says why", async () => {
  const cli = makeCli()
  await cli.run("init")
  const { server, done } = await startSample(cli)
  server.kill("SIGTERM")
  expect((await done).stderr).toContain(`No sample was made: ${cli.cwd} has a configuration or data, which is served.`)
  expect(existsSync(join(cli.cwd, "quartermaster-sample"))).toBe(false)
})
