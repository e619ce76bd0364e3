import { once } from "node:events"
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { callbackAdapter } from "../../approvals/ask/callback.ts"
import type { Config } from "../../config/schema.ts"
import { isTicket } from "../../core/result.ts"
import { openTestApp, temporaryFolder, until } from "../../testing/test-app.ts"
import { findBubblewrap } from "../../testing/shell-app.ts"

const org: Config["org"] = {
  roles: [{ name: "developer", toolGroups: ["command"] }],
  agents: [
    { id: "dev", role: "developer" },
    { id: "sub", role: "developer", parent: "dev" },
  ],
}

/** An app in shell mode sandbox over a small project, and what becomes of a command in it. */
async function project(config: Config = {}, options: { approves?: boolean } = {}) {
  const workspace = realpathSync(temporaryFolder())
  const outside = realpathSync(temporaryFolder())
  writeFileSync(join(workspace, ".env"), "KEY=secret\n")
  writeFileSync(join(workspace, "package.json"), "{}")
  writeFileSync(join(workspace, "Makefile"), "all:\n\t@echo built > built.txt\n")
  mkdirSync(join(workspace, "narrow"))
  const tools = { ...config.tools, shell: { mode: "sandbox" as const, ...config.tools?.shell } }
  const approvals = options.approves === true ? { approvals: callbackAdapter({ onExecution: () => true }) } : {}
  const system = await openTestApp({ org, ...config, tools }, { workspace, ...approvals })
  const submit = (command: string, input: object = {}, agentId = "dev") =>
    system.call({ agentId, tool: "run_command", input: { command, ...input } }, { waitMs: 0 })
  const run = async (command: string, input: object = {}, agentId = "dev") => {
    const answer = await submit(command, input, agentId)
    if (!isTicket(answer)) return answer.success ? (answer.result as Ran) : answer.code
    const [item] = (await system.approvals.list()).filter(({ callId }) => callId === answer.callId)
    return { asks: item?.reasons.map(({ sentence }) => sentence).join(" ") ?? "" }
  }
  return { system, workspace, outside, run }
}
type Ran = { stdout: string; stderr: string; exitCode: number; sandbox: object; id?: string }

const hidden = (line: string) => `eval "$(echo ${Buffer.from(line).toString("base64")} | base64 -d)"`
const asks = (text: string) => ({ asks: expect.stringContaining(text) as string })

const here = test.runIf("path" in findBubblewrap())

here("what bubblewrap holds runs unasked: builds, scripts, writes in the workspace", async () => {
  const { run, workspace } = await project()
  const held = { exitCode: 0, sandbox: { kind: "bubblewrap", network: false } }
  if (existsSync("/usr/bin/make")) {
    expect(await run("make")).toMatchObject(held)
    expect(existsSync(join(workspace, "built.txt"))).toBe(true)
  }
  expect(await run("node -e 'console.log(6 * 7)'")).toMatchObject({ ...held, stdout: "42\n" })
  expect(await run('for f in a b; do echo "$f" > "$f.txt"; done; cat *.txt | wc -l')).toMatchObject(held)
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("a\n")
})

here("a file that nobody let delete_file delete is not deleted unasked by a command", async () => {
  const { system, run, workspace } = await project({
    org: { ...org, roles: [{ name: "developer", toolGroups: ["command", "workspace"] }] },
  })
  const file = join(workspace, "notes.txt")
  writeFileSync(file, "text")
  const input = { path: "notes.txt" }
  const deleting = await system.call({ agentId: "dev", tool: "delete_file", input }, { waitMs: 0 })
  if (!isTicket(deleting)) throw new Error("delete_file did not ask.")
  await system.approvals.answer(deleting.callId, { kind: "reject" }, "ann")
  for (const line of ["rm -rf notes.txt", "sh -c 'rm -rf notes.txt'", "echo x > notes.txt", "ls notes.txt | xargs rm"])
    expect(await run(line)).toEqual(asks("deletes or overwrites"))
  expect(existsSync(file)).toBe(true)
  const rules = [{ allow: "run_command", touching: ["command:rm *", "write:**"], because: "It may delete." }]
  const ruled = await project({ rules })
  writeFileSync(join(ruled.workspace, "notes.txt"), "text")
  expect(await ruled.run("rm -rf notes.txt")).toMatchObject({ exitCode: 0 })
  expect(existsSync(join(ruled.workspace, "notes.txt"))).toBe(false)
})

here("secrets below the root are masked in unasked runs, and shown to a command that a person approved", async () => {
  const secrets = ["apps/api/.env", "infra/id_rsa"]
  const write = (workspace: string) => {
    for (const path of secrets) {
      mkdirSync(join(workspace, path, ".."), { recursive: true })
      writeFileSync(join(workspace, path), "TOPSECRET")
    }
  }
  const { run, workspace } = await project()
  write(workspace)
  const shown = (await run(hidden("cat apps/api/.env infra/id_rsa; grep -r TOPSECRET ."))) as Ran
  expect(shown).toMatchObject({ sandbox: { kind: "bubblewrap" } })
  expect(shown.stdout).not.toContain("TOPSECRET")
  expect(readFileSync(join(workspace, secrets[0]!), "utf8")).toBe("TOPSECRET")
  const approved = await project({ rules: [{ ask: "run_command", because: "the test" }] }, { approves: true })
  write(approved.workspace)
  const request = { agentId: "dev", tool: "run_command", input: { command: hidden("cat apps/api/.env") } }
  expect(await approved.system.call(request)).toMatchObject({ result: { stdout: "TOPSECRET" } })
})

here("where there are too many secrets to mask each, it asks", async () => {
  const { run, workspace } = await project()
  mkdirSync(join(workspace, "keys"))
  for (let at = 0; at < 201; at++) writeFileSync(join(workspace, "keys", `${at}.pem`), "")
  expect(await run(hidden("true"))).toEqual(asks("too many to mask"))
})

here("outside of the workspace nothing is written, and the network is not there", async () => {
  const { run, outside } = await project()
  expect(await run(hidden(`echo bad > ${outside}/made`))).toMatchObject({ exitCode: 1 })
  expect(existsSync(join(outside, "made"))).toBe(false)
  let heard = 0
  const server = createServer(() => heard++).listen(0, "127.0.0.1")
  onTestFinished(() => void server.close())
  await once(server, "listening")
  const connect = `require("net").connect(${(server.address() as AddressInfo).port}, "127.0.0.1").on("error", (e) => console.log(e.code))`
  expect(await run(`node -e '${connect}'`)).toMatchObject({ stdout: "ECONNREFUSED\n" })
  expect(heard).toBe(0)
  expect(await run("cat < /dev/tcp/127.0.0.1/1")).toBe("command_denied")
})

here("the network, variables, confirmed paths and a wish to be confirmed still ask", async () => {
  const { run } = await project()
  expect(await run("make", { network: true })).toEqual(asks("may use the network"))
  expect(await run("make", { env: { NODE_OPTIONS: "--require x" } })).toEqual(asks("NODE_OPTIONS"))
  expect(await run("cat .env")).toEqual(asks("Reading '"))
  expect(await run("node show.js .env")).toEqual(asks(".env"))
  expect(await run("echo {} > package.json")).toEqual(asks("Writing '"))
  expect(await run("make", { requireConfirmation: true })).toEqual(asks("asks to be confirmed"))
})

here(
  "a confirmed path that nobody saw in the line is absent or read-only, unless a person agreed to the call",
  async () => {
    const script = hidden("cat .env; echo changed > package.json; cat package.json")
    const unasked = await project()
    expect(await unasked.run(script)).toMatchObject({ stdout: "{}", stderr: expect.stringContaining("package.json") as string }) // prettier-ignore
    const asked = await project({ rules: [{ ask: "run_command", because: "Look." }] }, { approves: true })
    const answer = await asked.system.call({ agentId: "dev", tool: "run_command", input: { command: script } })
    expect(answer).toMatchObject({ success: true, result: { stdout: "KEY=secret\nchanged\n" } })
  },
)

here("deny lists, rules, limits of a parent and what a person set for the tool are not lifted", async () => {
  const listed = await project({ tools: { shell: { deny: ["curl"] } } })
  expect(await listed.run("curl example.com")).toBe("command_denied")
  expect(await listed.run("echo $(curl example.com)")).toBe("command_denied")
  expect(await listed.run("X=cu; ${X}rl example.com")).toEqual(asks("tools.shell.deny"))
  expect(await listed.run("make")).toMatchObject({ sandbox: { kind: "bubblewrap" } })
  const rules = [{ deny: "run_command", agent: "dev", touching: "write:db/**", because: "The database is ours." }]
  const ruled = await project({ rules })
  expect(await ruled.run("echo x > db/a")).toBe("permission_denied")
  expect(await ruled.run("node write.js")).toEqual(asks("the rule to deny run_command may be about it: The database is ours."))
  expect(await ruled.run("node write.js", {}, "sub")).toEqual(asks("The database is ours."))
  expect(await ruled.run("make")).toMatchObject({ sandbox: { kind: "bubblewrap" } })
  for (const permission of [{ requireExecutionApproval: true }, { requireConfirmation: true }, { dangerous: true }]) {
    const strict = await project({ tools: { permissions: { run_command: permission } } })
    expect(await strict.run("make")).toEqual(asks("sensitive"))
    expect(await strict.run("node x.js")).toEqual(asks("sensitive"))
  }
  const planned = await project()
  await planned.system.setMode({ agentId: "dev", mode: "plan", by: "ann" })
  const call = { agentId: "dev", tool: "run_command", input: { command: "make" }, sessionId: "s" }
  expect(await planned.system.call(call)).toMatchObject({ code: "permission_denied" })
}) // prettier-ignore

here("mounted is what the call's fence allows; the rest is absent", async () => {
  const { system, workspace } = await project()
  const input = { command: hidden("ls ..; ls ../Makefile"), cwd: "narrow" }
  const ran = await system.call({ agentId: "dev", tool: "run_command", input, allowedPaths: ["narrow"] })
  expect(ran).toMatchObject({ success: true, result: { stdout: "narrow\n" } })
  expect(existsSync(join(workspace, "Makefile"))).toBe(true)
})

here("mounted is what tools.allowedPaths name, as far as the call may use it; the rest is absent", async () => {
  const shared = realpathSync(temporaryFolder())
  const { system, workspace } = await project({
    tools: { allowedPaths: ["narrow/**", "gone", "out", shared, "*.json"] },
  })
  mkdirSync(join(workspace, "narrow/deep"))
  symlinkSync("/etc", join(workspace, "out"))
  const list = async (cwd: string, allowedPaths?: string[]) => {
    const command = hidden(`ls ${workspace} ${workspace}/narrow; ls ${workspace}/out; echo x > ${shared}/made`)
    return system.call({ agentId: "dev", tool: "run_command", input: { command, cwd }, allowedPaths })
  }
  const seen = { stdout: `${workspace}:\nnarrow\n\n${workspace}/narrow:\ndeep\n` }
  expect(await list("narrow")).toMatchObject({ success: true, result: seen })
  expect(existsSync(join(shared, "made"))).toBe(true)
  rmSync(join(shared, "made"))
  expect(await list("narrow", ["."])).toMatchObject({ success: true, result: seen })
  expect(await list("narrow/deep", ["narrow/deep"])).toMatchObject({ success: true, result: seen })
  expect(existsSync(join(shared, "made"))).toBe(false)
  for (const cwd of [".", "out"]) expect(await list(cwd)).toMatchObject({ code: "path_outside_workspace" })
})

here("a background command is held in the same way", async () => {
  const { run, system } = await project()
  const started = (await run(hidden("cat .env || echo none"), { background: true })) as { id: string }
  expect(started).toMatchObject({ sandbox: { kind: "bubblewrap" } })
  let text = ""
  await until(async () => {
    const { result } = await system.call({ agentId: "dev", tool: "command_output", input: { id: started.id } })
    return (text += (result as { stdout: string }).stdout) !== ""
  }, "it printed something")
  expect(text).toBe("none\n")
})

here("why says what the call does", async () => {
  const { system } = await project({ rules: [{ ask: "run_command", touching: "read:x", because: "X is looked at." }] })
  const why = (command: string) => system.why({ agentId: "dev", tool: "run_command", input: { command } })
  expect(await why("make")).toMatchObject({ verdict: "allow", reasons: [{ source: "tools.shell.mode" }] })
  expect(await why("make $X")).toMatchObject({
    verdict: "ask",
    reasons: [{ source: "configuration rules[0]", binding: true }],
  })
})
