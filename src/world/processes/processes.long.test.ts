import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs"
import { buildSync } from "esbuild"
import { join } from "node:path"
import { expect, test } from "vitest"
import { child } from "../../testing/children.ts"
import { until } from "../../testing/open.ts"
import { countProcesses, descriptorCount, layers, openHere, realFolder, someSeconds, withMoreTime } from "./testing.ts"

const megabyte = 1024 * 1024

test.each(layers)(
  "with sandbox %s, a command that prints for ever is ended in time, and neither memory nor disk fill",
  async (sandbox) => {
    const { processes } = openHere({ sandbox })
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
    // What was read and not yet written is collected late where the machine is busy.
    expect((most - before) / megabyte).toBeLessThan(400)
    result.whole?.drop()
  },
)

test.each(layers)(
  "with sandbox %s, the whole of 100 MB is kept, and what is more is cut and said so",
  async (sandbox) => {
    const { processes } = openHere({ sandbox })
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

test.each(layers)("with sandbox %s, what forks without end is ended with all it made", async (sandbox) => {
  const { processes } = openHere({ sandbox, limits: { processes: 10_000 } })
  const seconds = someSeconds()
  // It holds itself to some thousand, so that a failing test can be survived.
  const command = `ulimit -u 3000 2>/dev/null; n=0; while [ $n -lt 400 ]; do (sleep ${seconds} & setsid sleep ${seconds} & (sleep ${seconds} &) ) ; n=$((n+1)); done; sleep ${seconds}`
  const result = await processes.run({ command, timeoutMs: 1500 }, {})
  expect(result.timedOut).toBe(true)
  await until(() => countProcesses(seconds) === 0, "all were gone")
})

test.each(layers)(
  "with sandbox %s, two hundred commands leave no descriptor, no process and no file",
  async (sandbox) => {
    const { processes, workspace } = openHere({ sandbox })
    await processes.run({ command: "true" }, {})
    const before = descriptorCount()
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
    await until(() => descriptorCount() <= before, "all descriptors were closed")
    expect(countProcesses(workspace)).toBe(0)
  },
)

/** A house in a process of its own, with one foreground and one background command that sleep: `N` is how long. */
function house(workspace: string, sandbox: string, seconds: string, command = "sleep N & setsid sleep N & sleep N") {
  const parts = bundled(workspace)
  // The number is not in the words of the house itself, so that only sleepers are counted.
  const number = JSON.stringify(seconds.split(""))
  return child(`
    const seconds = ${number}.join("")
    import { openFence, openProcesses } from ${JSON.stringify(parts)}
    const files = openFence({ workspace: ${JSON.stringify(workspace)}, dataFolder: ${JSON.stringify(workspace)} + "/data" })
    const processes = openProcesses({ files, sandbox: ${JSON.stringify(sandbox)}, environment: process.env })
    void processes.run({ command: ${JSON.stringify(command)}.replaceAll("N", seconds) }, {})
    await processes.start({ command: \`sleep \${seconds}; echo\` }, { agentId: "ann" })
    console.log("ready")
    process.on("SIGUSR2", () => process.exit(0))
    setInterval(() => {}, 1000)
  `)
}

/** The parts as one file that Node runs, as they are now. */
function bundled(folder: string): string {
  const outfile = join(folder, "parts.mjs")
  const here = import.meta.dirname
  const contents = `export * from ${JSON.stringify(`${here}/processes.ts`)}; export * from ${JSON.stringify(`${here}/../files/fence.ts`)}`
  const banner = { js: 'import { createRequire } from "node:module"; const require = createRequire("/")' }
  buildSync({ stdin: { contents, resolveDir: here }, bundle: true, platform: "node", format: "esm", outfile, banner })
  return outfile
}

test.each(layers)("with sandbox %s, a house that ends without closing takes its commands with it", async (sandbox) => {
  const workspace = realFolder()
  const seconds = someSeconds()
  mkdirSync(`${workspace}/data`)
  const started = house(workspace, sandbox, seconds)
  await until(() => started.lines.includes("ready") && countProcesses(seconds) >= 4, "all ran")
  started.process.kill("SIGUSR2")
  await started.ended
  await until(() => countProcesses(seconds) === 0, "all were gone")
})

test.each(layers)(
  "with sandbox %s, what a killed house leaves is ended by the sandbox, or by the next house",
  async (sandbox) => {
    const workspace = realFolder()
    const seconds = someSeconds()
    mkdirSync(`${workspace}/data`)
    const started = house(workspace, sandbox, seconds)
    await until(() => started.lines.includes("ready") && countProcesses(seconds) >= 4, "all ran")
    started.process.kill("SIGKILL")
    await started.ended
    if (sandbox === "auto") await until(() => countProcesses(seconds) === 0, "the sandbox took them with it")
    else expect(countProcesses(seconds)).toBeGreaterThanOrEqual(3)
    const { processes } = openHere({ sandbox })
    await processes.run({ command: "true" }, {})
    await until(() => countProcesses(seconds) === 0, "the next house found them")
    rmSync(workspace, { recursive: true, force: true })
  },
)

test("what a killed house leaves is ended by the next house also while it starts more and more", async () => {
  const workspace = realFolder()
  const seconds = someSeconds()
  mkdirSync(`${workspace}/data`)
  const started = house(workspace, "off", seconds, "for i in {1..400}; do sleep N & sleep 0.001; done; wait")
  await until(() => countProcesses(seconds) > 20, "some ran")
  started.process.kill("SIGKILL")
  await started.ended
  const { processes } = openHere()
  await processes.run({ command: "true" }, {})
  await until(() => countProcesses(seconds) === 0, "the next house found them all")
  rmSync(workspace, { recursive: true, force: true })
})

test("with sandbox auto, a house that is killed at any moment while its commands begin leaves nothing", async () => {
  const workspace = realFolder()
  const seconds = someSeconds()
  mkdirSync(`${workspace}/data`)
  for (let round = 0; round < 30; round++) {
    const started = house(workspace, "auto", seconds)
    await until(() => countProcesses(seconds) > 0, "the first began")
    await new Promise((resolve) => setTimeout(resolve, round))
    started.process.kill("SIGKILL")
    await started.ended
    await until(() => countProcesses(seconds) === 0, `the sandbox took them with it in round ${round}`)
  }
  rmSync(workspace, { recursive: true, force: true })
})

test.each(layers)("with sandbox %s, a command has no descriptor that the house was started with", async (sandbox) => {
  const workspace = realFolder()
  const outside = realFolder()
  mkdirSync(`${workspace}/data`)
  writeFileSync(`${outside}/secret`, "the-secret")
  const script = `
    import { openFence, openProcesses } from ${JSON.stringify(bundled(workspace))}
    const files = openFence({ workspace: ${JSON.stringify(workspace)}, dataFolder: ${JSON.stringify(workspace)} + "/data" })
    const processes = openProcesses({ files, sandbox: ${JSON.stringify(sandbox)}, environment: process.env, dataFolder: ${JSON.stringify(workspace)} + "/data" })
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
})
