import { readdirSync, readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { until } from "../../../../testing/test-app.ts"
import { dist, makeCli, outputOf, waitForOutput } from "../../testing.ts"

const menu = "escape later\r\n> "
const enter = "\r"
const controlC = "\u0003"

type Cli = ReturnType<typeof makeCli>

/** Starts a call without a terminal, and resolves when it waits for a person. */
async function startCall(cli: Cli, key: string) {
  const child = cli.start("call", "set_env", `key=${key}`, "value=1")
  const end = outputOf(child, "")
  await waitForOutput(child, "Waiting for a person")
  return { end }
}

/** Reports whether a process has these words in its command line. */
function isRunning(words: string): boolean {
  return readdirSync("/proc").some((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").includes(words)
    } catch {
      return false // It has ended meanwhile.
    }
  })
}

async function pending(cli: Cli): Promise<{ callId: string; revision: number; input: unknown }[]> {
  return JSON.parse((await cli.run("approvals", "list", "--json")).stdout) as never
}

test("'approvals approve' without an id shows the card and takes a key", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  const { end } = await startCall(cli, "A")
  const approved = await cli.inTerminal(["approvals", "approve"], [[menu, `a${enter}`]])
  expect(approved.stdout).toContain("operator (operator) wants to call set_env [moderate]")
  expect(approved.stdout).toContain("Approved. It ran.")
  expect([approved.code, (await end).code]).toEqual([0, 0])
  const nothing = await cli.inTerminal(["approvals", "approve"], [])
  expect([nothing.code, nothing.stdout]).toEqual([1, expect.stringContaining("No call waits for a person.")])
})

test("'approvals reject' without an id lets the person choose from a list, and leaving it answers nothing", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  const { end: first } = await startCall(cli, "A")
  await startCall(cli, "B")
  const left = await cli.inTerminal(["approvals", "reject"], [[menu, "\u001b"]])
  expect([left.code, left.stdout]).toEqual([1, expect.stringContaining("Nothing was answered.")])
  const rejected = await cli.inTerminal(
    ["approvals", "reject"],
    [
      ["2 wait for a person:", ""],
      [menu, `1${enter}`],
      [menu, `r${enter}`],
      ["Why not?", `not today${enter}`],
    ],
  )
  expect(rejected.code).toBe(0)
  expect(await first).toMatchObject({ code: 4, stderr: expect.stringContaining("not today") as string })
  expect(await pending(cli)).toMatchObject([{ input: { key: "B" } }])
})

test("a call that is edited elsewhere while it is shown is shown again, not approved", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  const { end } = await startCall(cli, "A")
  const [item] = await pending(cli)
  const edit = () => void cli.run("approvals", "edit", item!.callId, '{"key":"B","value":"2"}')
  const { code, stdout } = await cli.inTerminal(
    ["approvals", "approve"],
    [
      [menu, edit],
      ["1 waits for a person:", `a${enter}`],
      [menu, enter],
      ["revision 2", ""],
      [menu, `a${enter}`],
    ],
  )
  expect([code, (await end).code]).toEqual([0, 0])
  expect(stdout).toContain("edited by")
})

test("'approvals watch' shows what arrives, closes what is answered elsewhere, and stops at Ctrl-C", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  const ends: Promise<unknown>[] = []
  const answerFirst = async () => {
    const [first] = await pending(cli)
    await cli.run("approvals", "approve", first!.callId)
  }
  const { stdout } = await cli.inTerminal(
    ["approvals", "watch"],
    [
      ["Nothing waits for a person.", async () => ends.push((await startCall(cli, "A")).end)],
      [menu, async () => ends.push((await startCall(cli, "B")).end)],
      ["Also waits now: operator wants to call set_env: B=1", () => void answerFirst()],
      ["It was answered elsewhere", `a${enter}`],
      [menu, enter],
      ["B=1", `a${enter}`],
      [menu, `a${enter}`],
      ["Nothing waits for a person.", controlC],
    ],
  )
  expect(stdout).toContain("Approved. It ran.")
  expect(await Promise.all(ends)).toMatchObject([{ code: 0 }, { code: 0 }])
})

test("'serve' answers in its terminal, and Ctrl-C at a card stops it and leaves the call waiting", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  const { end } = await startCall(cli, "A")
  const { code, stdout } = await cli.inTerminal(
    ["serve", "--port", "0"],
    [
      ["shown and answered here too", ""],
      [menu, `a${enter}`],
      ["Approved.", () => void startCall(cli, "B")],
      [menu, controlC],
      ["Stopping.", ""],
    ],
  )
  expect([code, (await end).code]).toEqual([0, 0])
  expect(stdout).toContain("B=1")
  expect(await pending(cli)).toMatchObject([{ input: { key: "B" } }])
})

test("'serve' shows nothing that waits where it is piped", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  await startCall(cli, "A")
  const server = cli.start("serve", "--port", "0")
  const end = outputOf(server, "")
  await waitForOutput(server, "Press Ctrl-C to stop.")
  await startCall(cli, "B")
  server.kill("SIGTERM")
  const { stdout, stderr } = await end
  expect(stdout + stderr).not.toMatch(/set_env|answered here/)
  expect(await pending(cli)).toHaveLength(2)
})

test.each([
  ["approvals", "watch"],
  ["approvals", "approve"],
  ["serve", "--port", "0"],
])("'%s %s' ends when its terminal goes away, and nothing is answered", async (...words) => {
  const cli = makeCli({ NO_COLOR: "1" })
  await startCall(cli, "A")
  await cli.inTerminal([...words, "--data", cli.dataDir], [[menu, (terminal) => terminal.kill("SIGKILL")]])
  await until(() => !isRunning(`--data\0${cli.dataDir}`), "the command ends")
  expect(await pending(cli)).toHaveLength(1)
})

test("a library call that waits writes one line to stderr, and the command in it answers the call", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  cli.write(
    "host.mjs",
    `import { createQuartermaster } from ${JSON.stringify(`${dist}index.js`)}
     const app = await createQuartermaster()
     const { status } = await app.call({ agentId: "operator", tool: "set_env", input: { key: "A", value: "1" } })
     console.log(status)
     await app.close()`,
  )
  const host = cli.script("host.mjs")
  const end = outputOf(host, "")
  const line = await new Promise<string>((resolve) => host.stderr?.once("data", (text) => resolve(String(text))))
  const [, command] = /^Waiting for a person: operator wants to call set_env\. Answer with: (node .*)\n$/.exec(line)!
  expect(await cli.shell(command!)).toMatchObject({ code: 0 })
  expect(await end).toEqual({ code: 0, stdout: "success\n", stderr: line })
})
