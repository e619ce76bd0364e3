import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { buildSync } from "esbuild"
import { join } from "node:path"
import { expect, test } from "vitest"
import { runChild } from "../../testing/child-process.ts"
import { until } from "../../testing/test-app.ts"
import {
  countProcesses,
  countDescriptors,
  sandboxModes,
  openTestProcesses,
  realTemporaryFolder,
  uniqueSeconds,
  withMoreTime,
} from "./testing.ts"

const megabyte = 1024 * 1024

const ann = { agentId: "ann" }

test("an agent has at most 32 background commands, and unread output is bounded and counted", async () => {
  const { processes } = openTestProcesses()
  const noisy = await processes.start(
    { command: "yes 0123456789 | head -c 5000000; printf '%s\\n' '' 0123456789 the-end" },
    ann,
  )
  await until(() => processes.list(ann)[0]?.status === "completed", "it ended")
  const { stdout, dropped } = await processes.output(noisy.id, ann)
  expect(stdout.length).toBeLessThan(1_100_000)
  expect(stdout.endsWith("0123456789\nthe-end\n")).toBe(true)
  expect(dropped + stdout.length).toBeGreaterThanOrEqual(5_000_000)
  expect(stdout.startsWith(`[${dropped} characters were not kept]\n`)).toBe(true)
  for (let count = 0; count < 32; count++) await processes.start({ command: "sleep 60" }, ann)
  await expect(processes.start({ command: "true" }, ann)).rejects.toMatchObject({ toolCode: "too_many_commands" })
  await processes.start({ command: "true" }, { agentId: "bob" })
})

test.each(sandboxModes)(
  "with sandbox %s, a command that prints for ever is ended in time and fills neither memory nor disk",
  async (sandbox) => {
    const { processes } = openTestProcesses({ sandbox })
    const before = process.memoryUsage().rss
    let most = 0
    const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss)), 20)
    const run = (timeoutMs: number) => processes.run({ command: "yes 0123456789", timeoutMs }, {})
    const result = await withMoreTime(run, ({ dropped }) => dropped > 0, 3000)
    clearInterval(watch)
    expect(result).toMatchObject({ timedOut: true })
    expect(result.durationMs).toBeLessThan(60_000)
    expect(result.stdout.length).toBeLessThan(11 * megabyte)
    expect(result.stdout.startsWith("0123456789\n0123456789\n")).toBe(true)
    expect(result.stdout).toContain(`[${result.dropped} characters were not kept]`)
    expect(result.whole?.bytes).toBeLessThanOrEqual(100 * megabyte)
    // On a busy machine buffers are garbage-collected late.
    expect((most - before) / megabyte).toBeLessThan(400)
    result.whole?.drop()
  },
)

test.each(sandboxModes)(
  "with sandbox %s, 100 MB of output are kept whole, and more is cut and marked",
  async (sandbox) => {
    const { processes } = openTestProcesses({ sandbox })
    const lines = Math.floor((99 * megabyte) / 64)
    const print = (count: number) =>
      `yes 012345678901234567890123456789012345678901234567890123456789xyz | head -n ${count}; echo the end`
    const fits = await processes.run({ command: print(lines) }, {})
    expect(fits.whole).toMatchObject({ bytes: lines * 64 + 8, isCut: false })
    const bytes = await fits.whole!.read()
    expect(bytes.length).toBe(lines * 64 + 8)
    expect(bytes.subarray(-8).toString()).toBe("the end\n")
    expect(fits.stdout.endsWith("xyz\nthe end\n")).toBe(true)
    fits.whole!.drop()
    const more = await processes.run({ command: print(lines * 2) }, {})
    expect(more.whole).toMatchObject({ bytes: 100 * megabyte, isCut: true })
    expect(more.stdout.endsWith("xyz\nthe end\n")).toBe(true)
    more.whole!.drop()
  },
)

test.each(sandboxModes)("with sandbox %s, a fork bomb is ended with everything it started", async (sandbox) => {
  const { processes } = openTestProcesses({ sandbox, limits: { processes: 10_000 } })
  const seconds = uniqueSeconds()
  // Limited to some thousand processes, so that the machine survives a failing test.
  const command = `ulimit -u 3000 2>/dev/null; n=0; while [ $n -lt 400 ]; do (sleep ${seconds} & setsid sleep ${seconds} & (sleep ${seconds} &) ) ; n=$((n+1)); done; sleep ${seconds}`
  const result = await processes.run({ command, timeoutMs: 1500 }, {})
  expect(result.timedOut).toBe(true)
  await until(() => countProcesses(seconds) === 0, "all were gone")
})

test.each(sandboxModes)(
  "with sandbox %s, two hundred commands leave no descriptor, no process and no file",
  async (sandbox) => {
    const { processes, workspace } = openTestProcesses({ sandbox })
    await processes.run({ command: "true" }, {})
    const before = countDescriptors()
    for (let round = 0; round < 25; round++) {
      const commands = [
        "echo x",
        "exit 1",
        "cat >/dev/null",
        "sleep 9 & true",
        "echo $RANDOM >&2",
        "kill -9 $$",
        "true | false",
        "head -c 2000000 /dev/zero",
      ]
      await Promise.all(commands.map((command) => processes.run({ command, stdin: "x" }, {})))
    }
    await until(() => countDescriptors() <= before, "all descriptors were closed")
    expect(countProcesses(workspace)).toBe(0)
  },
)

/** A separate Node process with one foreground and one background command that sleep `N` seconds. */
function startProcess(
  workspace: string,
  sandbox: string,
  seconds: string,
  command = "sleep N & setsid sleep N & sleep N",
) {
  const parts = bundled(workspace)
  // The number is not in the process's own arguments, so that only the sleeping commands are counted.
  const number = JSON.stringify(seconds.split(""))
  return runChild(`
    const seconds = ${number}.join("")
    import { openFiles, openProcesses } from ${JSON.stringify(parts)}
    const files = openFiles({ workspace: ${JSON.stringify(workspace)}, dataFolder: ${JSON.stringify(workspace)} + "/data" })
    const processes = openProcesses({ files, sandbox: ${JSON.stringify(sandbox)}, environment: process.env })
    void processes.run({ command: ${JSON.stringify(command)}.replaceAll("N", seconds) }, {})
    await processes.start({ command: \`sleep \${seconds}; echo\` }, { agentId: "ann" })
    process.on("SIGUSR2", () => process.exit(0))
    console.log("ready")
    setInterval(() => {}, 1000)
  `)
}

/** The current sources as one file that Node can run. */
function bundled(folder: string): string {
  const outfile = join(folder, "parts.mjs")
  const here = import.meta.dirname
  const contents = `export * from ${JSON.stringify(`${here}/processes.ts`)}; export * from ${JSON.stringify(`${here}/../files/files.ts`)}`
  const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire("/")' }
  buildSync({ stdin: { contents, resolveDir: here }, bundle: true, platform: "node", format: "esm", outfile, banner })
  return outfile
}

test.each(sandboxModes)("with sandbox %s, a process that exits without closing ends its commands", async (sandbox) => {
  const workspace = realTemporaryFolder()
  const seconds = uniqueSeconds()
  mkdirSync(`${workspace}/data`)
  const started = startProcess(workspace, sandbox, seconds)
  await until(() => started.lines.includes("ready") && countProcesses(seconds) >= 4, "all ran")
  started.process.kill("SIGUSR2")
  await started.ended
  await until(() => countProcesses(seconds) === 0, "all were gone")
})

test.each(sandboxModes)(
  "with sandbox %s, commands of a killed process are ended by the sandbox or by the next process",
  async (sandbox) => {
    const workspace = realTemporaryFolder()
    const seconds = uniqueSeconds()
    mkdirSync(`${workspace}/data`)
    const started = startProcess(workspace, sandbox, seconds)
    await until(() => started.lines.includes("ready") && countProcesses(seconds) >= 4, "all ran")
    started.process.kill("SIGKILL")
    await started.ended
    if (sandbox === "auto") await until(() => countProcesses(seconds) === 0, "the sandbox took them with it")
    else expect(countProcesses(seconds)).toBeGreaterThanOrEqual(3)
    const { processes } = openTestProcesses({ sandbox })
    await processes.run({ command: "true" }, {})
    await until(() => countProcesses(seconds) === 0, "the next process found them")
    rmSync(workspace, { recursive: true, force: true })
  },
)

test("the next process ends the commands of a killed one even while they start more processes", async () => {
  const workspace = realTemporaryFolder()
  const seconds = uniqueSeconds()
  mkdirSync(`${workspace}/data`)
  const started = startProcess(workspace, "off", seconds, "for i in {1..400}; do sleep N & sleep 0.001; done; wait")
  await until(() => countProcesses(seconds) > 20, "some ran")
  started.process.kill("SIGKILL")
  await started.ended
  const { processes } = openTestProcesses()
  await processes.run({ command: "true" }, {})
  await until(() => countProcesses(seconds) === 0, "the next process found them all")
  rmSync(workspace, { recursive: true, force: true })
})

test("with sandbox auto, a process killed at any moment while its commands start leaves nothing", async () => {
  const workspace = realTemporaryFolder()
  const seconds = uniqueSeconds()
  mkdirSync(`${workspace}/data`)
  for (let round = 0; round < 30; round++) {
    const started = startProcess(workspace, "auto", seconds)
    await until(() => countProcesses(seconds) > 0, "the first began")
    await new Promise((resolve) => setTimeout(resolve, round))
    started.process.kill("SIGKILL")
    await started.ended
    await until(() => countProcesses(seconds) === 0, `the sandbox took them with it in round ${round}`)
  }
  rmSync(workspace, { recursive: true, force: true })
})

test.each(sandboxModes)(
  "with sandbox %s, a command inherits no descriptor that our process was started with",
  async (sandbox) => {
    const workspace = realTemporaryFolder()
    const outside = realTemporaryFolder()
    mkdirSync(`${workspace}/data`)
    writeFileSync(`${outside}/secret`, "the-secret")
    const script = `
    import { openFiles, openProcesses } from ${JSON.stringify(bundled(workspace))}
    const files = openFiles({ workspace: ${JSON.stringify(workspace)}, dataFolder: ${JSON.stringify(workspace)} + "/data" })
    const processes = openProcesses({ files, sandbox: ${JSON.stringify(sandbox)}, environment: process.env })
    const command = "ls -l /proc/self/fd; cat <&40; cat /proc/self/fd/61/secret; echo x > /proc/self/fd/61/made; cat <&5"
    const { stdout } = await processes.run({ command }, {})
    console.log(stdout)
    await processes.close()
  `
    writeFileSync(`${workspace}/main.mjs`, script)
    const line = 'exec "$0" "$1" 40<"$2/secret" 61<"$2" 5<"$2/secret"'
    const printed = execFileSync("bash", ["-c", line, process.execPath, `${workspace}/main.mjs`, outside], {
      encoding: "utf8",
    })
    expect(printed).toContain(" 2 -> ")
    expect(printed).not.toMatch(/secret|\/qm-test-/)
    expect(existsSync(`${outside}/made`)).toBe(false)
  },
)
