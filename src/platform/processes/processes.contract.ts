import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { until } from "../../testing/test-app.ts"
import { countProcesses, countDescriptors, openTestProcesses, uniqueSeconds, withMoreTime } from "./testing.ts"

const ann = { agentId: "ann" }

/** The contract of commands with and without a sandbox. */
export function describeProcesses(sandbox: "off" | "auto"): void {
  test("a command's streams and exit code are returned, and a non-zero exit is not a failure", async () => {
    const { processes, workspace } = openTestProcesses({ sandbox })
    const result = await processes.run({ command: "pwd; echo wrong >&2; exit 3" }, {})
    expect(result).toMatchObject({ stdout: `${workspace}\n`, stderr: "wrong\n", exitCode: 3, signal: null })
    expect(result).toMatchObject({ timedOut: false, leftovers: 0, dropped: 0 })
    expect(result.sandbox.kind).toBe(sandbox === "off" ? "none" : "bubblewrap")
    expect(result.durationMs).toBeGreaterThan(0)
  })

  test("a script can open /dev/stdout, /dev/stderr and /dev/stdin", async () => {
    const { processes } = openTestProcesses({ sandbox })
    const command = "echo one >/dev/stdout; echo two | tee /dev/stderr; cat /dev/stdin"
    const result = await processes.run({ command, stdin: "three\n" }, {})
    expect(result).toMatchObject({ stdout: "one\ntwo\nthree\n", stderr: "two\n", exitCode: 0 })
  })

  test("a command reads the given stdin, or its end immediately", async () => {
    const { processes } = openTestProcesses({ sandbox })
    expect(await processes.run({ command: "cat; echo over" }, {})).toMatchObject({ stdout: "over\n" })
    const stdin = "两行\n文本".repeat(50_000)
    expect((await processes.run({ command: "cat", stdin }, {})).stdout).toBe(stdin)
  })

  test("characters that arrive in pieces are joined, and invalid bytes are marked", async () => {
    const { processes, workspace } = openTestProcesses({ sandbox })
    const pieces: string[] = []
    const command = String.raw`printf 'a\xe4\xb8'; until [ -e heard ]; do sleep 0.02; done; printf '\xad|\xff\xfe|\xf0\x9f'`
    const running = processes.run({ command }, { onOutput: ({ text }) => void pieces.push(text) })
    await until(() => pieces.length > 0, "the first piece arrived")
    writeFileSync(join(workspace, "heard"), "")
    const { stdout } = await running
    expect(stdout).toBe("a中|\ufffd\ufffd|\ufffd")
    expect(pieces[0]).toBe("a")
    expect(pieces.join("")).toBe(stdout)
  })

  test("output is reported while the command still runs", async () => {
    const { processes, workspace } = openTestProcesses({ sandbox })
    const printed: string[] = []
    const running = processes.run(
      { command: "echo begun; until [ -e heard ]; do sleep 0.02; done; echo over" },
      { onOutput: ({ stream, text }) => void printed.push(`${stream} ${text}`) },
    )
    await until(() => printed.includes("stdout begun\n"), "the first line arrived")
    writeFileSync(join(workspace, "heard"), "")
    expect(await running).toMatchObject({ stdout: "begun\nover\n" })
  })

  test("a command at its timeout gets TERM and may clean up", async () => {
    const { processes } = openTestProcesses({ sandbox, graceMs: 30_000 })
    const command = "trap 'echo bye; exit 7' TERM; echo here; sleep 30 & wait"
    const run = (timeoutMs: number) => processes.run({ command, timeoutMs }, {})
    const result = await withMoreTime(run, ({ stdout }) => stdout !== "")
    expect(result).toMatchObject({ timedOut: true, stdout: "here\nbye\n", exitCode: 7 })
  })

  test("a command that ignores TERM is killed after the grace period, with everything it started", async () => {
    const { processes } = openTestProcesses({ sandbox, graceMs: 100 })
    const seconds = uniqueSeconds()
    const command = `trap '' TERM; echo here; (trap '' TERM; sleep ${seconds}; sleep ${seconds}) & while true; do sleep ${seconds}; done`
    const run = (timeoutMs: number) => processes.run({ command, timeoutMs }, {})
    const result = await withMoreTime(run, ({ stdout }) => stdout !== "")
    expect(result).toMatchObject({ timedOut: true, exitCode: 137 })
    expect(countProcesses(seconds)).toBe(0)
  })

  test.each([
    ["children in the background", (s: string) => `sleep ${s} & sleep ${s} & echo done`, 2],
    ["a child that holds no pipe", (s: string) => `sleep ${s} >/dev/null 2>&1 & echo done`, 1],
    ["a child of another session", (s: string) => `setsid sleep ${s} >/dev/null 2>&1 & sleep 0.05; echo done`, 1],
    ["a daemon by two forks", (s: string) => `setsid bash -c 'sleep ${s} & exit' >/dev/null 2>&1; echo done`, 1],
    ["a stopped child", (s: string) => `sleep ${s} & kill -STOP $!; echo done`, 1],
    ["a child with nohup", (s: string) => `nohup sleep ${s} >/dev/null 2>&1 & echo done`, 1],
  ] as const)("a command that exits leaving %s leaves nothing", async (_what, command, count) => {
    const { processes } = openTestProcesses({ sandbox })
    const seconds = uniqueSeconds()
    const result = await processes.run({ command: command(seconds) }, {})
    expect(result).toMatchObject({ stdout: "done\n", exitCode: 0, timedOut: false })
    await until(() => countProcesses(seconds) === 0, "they were gone")
    if (sandbox === "off") expect(result.leftovers).toBe(count)
  })

  test("an aborted command ends immediately, with everything it started", async () => {
    const { processes } = openTestProcesses({ sandbox })
    const seconds = uniqueSeconds()
    const controller = new AbortController()
    const running = processes.run({ command: `sleep ${seconds} & sleep ${seconds}` }, { signal: controller.signal })
    await until(() => countProcesses(seconds) >= 2, "both ran")
    controller.abort()
    await expect(running).rejects.toMatchObject({ toolCode: "command_stopped" })
    expect(countProcesses(seconds)).toBe(0)
    await expect(processes.run({ command: "true" }, { signal: controller.signal })).rejects.toThrow("was stopped")
  })

  test("a command aborted while it starts ends too", async () => {
    const { processes } = openTestProcesses({ sandbox })
    const seconds = uniqueSeconds()
    for (let wait = 0; wait < 12; wait += 3) {
      const controller = new AbortController()
      const running = processes.run({ command: `sleep ${seconds}` }, { signal: controller.signal })
      setTimeout(() => controller.abort(), wait)
      await expect(running).rejects.toMatchObject({ toolCode: "command_stopped" })
    }
    await until(() => countProcesses(seconds) === 0, "all were gone")
  })

  test("a command sees few of our variables, no secrets, and QM_INSIDE", async () => {
    const environment = {
      PATH: process.env["PATH"], HOME: "/tmp/home", LANG: "C.UTF-8", LC_ALL: "C.UTF-8", LC_TOKEN: "x", TERM: "xterm", QM_PERSON_TOKEN: "qmp_x", QM_AGENT: "a", OPENAI_API_KEY: "sk-1", AWS_SECRET_ACCESS_KEY: "x",
      HTTPS_PROXY: "http://user:word@proxy", HTTP_PROXY: "http://proxy:1", USER: "ghp_0123456789abcdef0123", SSH_AUTH_SOCK: "/x", BASH_ENV: "/x", LD_PRELOAD: "", NODE_OPTIONS: "--x", QM_INSIDE: "0",
    } // prettier-ignore
    const { processes } = openTestProcesses({ sandbox, environment })
    const names = async (network: boolean) => {
      const { stdout } = await processes.run({ command: "env -0", network, environment: { GIVEN: "a\nb" } }, {})
      const entries = stdout.split("\0").map((line) => [line.split("=")[0]!, line.slice(line.indexOf("=") + 1)])
      return Object.fromEntries(entries.filter(([name]) => name !== "")) as Record<string, string>
    }
    const seen = await names(false)
    expect(seen).toMatchObject({ HOME: "/tmp/home", LANG: "C.UTF-8", GIVEN: "a\nb", QM_INSIDE: "1" })
    const own = ["PWD", "SHLVL", "_", "QUARTERMASTER_COMMAND", "TMPDIR"]
    const rest = Object.keys(seen).filter((name) => !own.includes(name))
    expect(rest.toSorted()).toEqual(["GIVEN", "HOME", "LANG", "LC_ALL", "PATH", "QM_INSIDE", "TERM"])
    expect(await names(true)).toMatchObject({ HTTP_PROXY: "http://proxy:1" })
    expect(await names(true)).not.toHaveProperty("HTTPS_PROXY")
  })

  test("a folder outside the workspace, a file and a missing folder are refused before anything runs", async () => {
    const { processes, workspace } = openTestProcesses({ sandbox })
    mkdirSync(join(workspace, "sub"))
    writeFileSync(join(workspace, "file"), "")
    symlinkSync("/etc", join(workspace, "link"))
    expect((await processes.run({ command: "pwd", cwd: "sub" }, {})).stdout).toBe(`${workspace}/sub\n`)
    for (const cwd of ["..", "/etc", "link", "file", "none"]) {
      await expect(processes.run({ command: "touch ran", cwd }, {})).rejects.toThrow(/./)
    }
    expect(readdirSync(workspace)).not.toContain("ran")
  })

  test("a command with mustBeSandboxed runs in the sandbox or not at all", async () => {
    const { processes, workspace } = openTestProcesses({ sandbox })
    const spec = { command: "touch ran", unapproved: true, mustBeSandboxed: true }
    const started = processes.start(spec, ann)
    if (sandbox === "off") {
      const refused = { toolCode: "sandbox_missing", message: expect.stringContaining("Ask a person to approve") }
      await expect(processes.run(spec, {})).rejects.toMatchObject(refused)
      await expect(started).rejects.toMatchObject(refused)
      expect(readdirSync(workspace)).toEqual([])
      expect(await processes.run({ ...spec, mustBeSandboxed: false }, {})).toMatchObject({ exitCode: 0 })
    } else {
      expect(await processes.run(spec, {})).toMatchObject({ exitCode: 0, sandbox: { kind: "bubblewrap" } })
      expect((await started).sandbox.kind).toBe("bubblewrap")
    }
  })

  test("many commands leave no descriptors and no files", async () => {
    const { processes, workspace } = openTestProcesses({ sandbox })
    await processes.run({ command: "true" }, {})
    const before = countDescriptors()
    const commands = ["echo x", "sleep 9 & true", "kill -9 $$", "cat", "yes | head -c 3000000"]
    await Promise.all(commands.map((command) => processes.run({ command, stdin: "x" }, {})))
    await expect(processes.run({ command: "x".repeat(200_000) }, {})).rejects.toThrow("too long")
    await until(() => countDescriptors() <= before, "the descriptors were closed")
    expect(readdirSync(workspace)).toEqual([])
  })

  test("only its agent can read, list and stop a background command", async () => {
    const { processes } = openTestProcesses({ sandbox })
    const seconds = uniqueSeconds()
    const command = `echo one; read -r line < <(sleep 0.2; echo); echo two >&2; sleep ${seconds}`
    const { id, status, sandbox: layer } = await processes.start({ command }, ann)
    expect({ status, kind: layer.kind }).toEqual({ status: "running", kind: sandbox === "off" ? "none" : "bubblewrap" })
    let seen = ""
    await until(async () => {
      const { stdout, stderr } = await processes.output(id, ann)
      return (seen += stdout + stderr) === "one\ntwo\n"
    }, "both lines were read, once each")
    for (const other of [{ agentId: "bob" }, { agentId: "ann", taskId: "t" }]) {
      await expect(processes.output(id, other)).rejects.toMatchObject({ toolCode: "command_not_found" })
      await expect(processes.stop(id, other)).rejects.toMatchObject({ toolCode: "command_not_found" })
      expect(processes.list(other)).toEqual([])
    }
    expect(processes.list(ann)).toMatchObject([{ id, command, status: "running", exitCode: null }])
    expect(await processes.stop(id, ann)).toMatchObject({ id, status: "killed" })
    expect(countProcesses(seconds)).toBe(0)
    expect(await processes.output(id, ann)).toMatchObject({
      status: "killed",
      stdout: "",
      exitCode: expect.any(Number),
    })
  })

  test("a background command ends by itself, at its timeout, with its agent and on close", async () => {
    const { processes } = openTestProcesses({ sandbox })
    const seconds = uniqueSeconds()
    const start = (command: string, agentId: string, timeoutMs?: number) =>
      processes.start({ command, timeoutMs }, { agentId })
    const good = await start("true", "ann")
    const bad = await start("exit 4", "ann")
    const slow = await start(`sleep ${seconds}`, "ann", 100)
    const statusOf = (id: string) => processes.list(ann).find((one) => one.id === id)?.status
    await until(() => [good, bad, slow].every(({ id }) => statusOf(id) !== "running"), "they ended")
    expect(processes.list(ann)).toMatchObject([
      { id: good.id, status: "completed", exitCode: 0 },
      { id: bad.id, status: "failed", exitCode: 4 },
      { id: slow.id, status: "failed" },
    ])
    await start(`sleep ${seconds}`, "bob")
    await start(`sleep ${seconds}`, "eve")
    await until(() => countProcesses(seconds) >= 2, "both ran")
    await processes.endAll((agentId) => agentId === "bob")
    expect(processes.list({ agentId: "bob" })).toMatchObject([{ status: "killed" }])
    expect(processes.list({ agentId: "eve" })).toMatchObject([{ status: "running" }])
    const beginning = start(`sleep ${seconds}`, "joe")
    const [{ id } = { id: "" }] = processes.list({ agentId: "joe" })
    expect(await processes.stop(id, { agentId: "joe" })).toMatchObject({ status: "killed" })
    expect(await beginning).toMatchObject({ id, status: "killed" })
    await processes.close()
    expect(countProcesses(seconds)).toBe(0)
    await expect(processes.run({ command: "true" }, {})).rejects.toMatchObject({ toolCode: "closing" })
  })
}
