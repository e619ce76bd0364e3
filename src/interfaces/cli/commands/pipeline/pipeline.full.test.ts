import { cpSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { stripVTControlCharacters } from "node:util"
import { expect, test } from "vitest"
import { until } from "../../../../testing/test-app.ts"
import { makeCli, outputOf, waitForOutput } from "../../testing.ts"

const examples = fileURLToPath(new URL("../../../../../examples/", import.meta.url))

test("the example runs in the sample's workspace: it is checked, waits, and goes on when its write is approved", async () => {
  const { cwd, run, shell } = makeCli()
  cpSync(join(examples, "sample/workspace"), cwd, { recursive: true })
  const file = join(examples, "report.yml")
  const planned = await run("pipeline", "run", file, "--dry-run")
  expect(planned).toMatchObject({ code: 0, stderr: "" })
  expect(planned.stdout).toMatch(/^4 +write +ask +write_file report\.md content=text#\/result$/m)
  const waiting = await run("pipeline", "run", file, "--input", "folder=docs")
  expect(waiting.code).toBe(4)
  expect(waiting.stdout).toContain("- docs/notes.md:4: - Next: greet in other languages.")
  expect(existsSync(join(cwd, "report.md"))).toBe(false)
  const [, approve = ""] = /Answer with: (.+)$/m.exec(waiting.stderr)!
  const [, resume = ""] = /go on with: (.+)$/m.exec(waiting.stderr)!
  expect((await shell(approve)).code).toBe(0)
  const ended = await shell(resume)
  expect(ended).toMatchObject({ code: 0, stdout: waiting.stdout })
  expect(`${readFileSync(join(cwd, "report.md"), "utf8").trim()}\n`).toBe(waiting.stdout)
})

const slow = `steps:
  - { id: time, tool: current_time }
  - { id: wait, tool: sleep, input: { duration: 500 }, needs: [time] }
  - { id: after, tool: current_time, needs: [wait] }
outputs: { time: { $from: time#/timestamp } }
`

interface Event {
  type: string
  step?: string
  status?: string
  id?: string
  resume?: string
}

const eventsOf = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Event)

test("a signal stops what runs, and nothing more is called", async () => {
  const cli = makeCli()
  cli.write("slow.yml", slow)
  const child = cli.start("pipeline", "run", "slow.yml", "--json")
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part))
  const ended = outputOf(child, "")
  await until(() => text.includes('"step":"wait"'), "it sleeps")
  child.kill("SIGINT")
  const { code, stdout } = await ended
  expect(code).toBe(6)
  const steps = eventsOf(stdout).filter(({ type }) => type === "step")
  expect(steps.map(({ step, status }) => [step, status])).toEqual([
    ["time", "success"],
    ["wait", "aborted"],
    ["after", "aborted"],
  ])
})

const asking = `steps:
  - { id: time, tool: current_time }
  - { id: write, tool: write_file, input: { path: a.txt, content: hello }, needs: [time] }
`

test("a signal while a step waits leaves it waiting: it is answered elsewhere, and the run goes on", async () => {
  const cli = makeCli()
  cli.write("asking.yml", asking)
  const child = cli.start("pipeline", "run", "asking.yml", "--wait", "--json")
  const ended = outputOf(child, "")
  await waitForOutput(child, '"waiting"')
  child.kill("SIGINT")
  const { code, stdout } = await ended
  const last = eventsOf(stdout).at(-1)!
  expect([code, last.status]).toEqual([6, "aborted"])
  const [item] = JSON.parse((await cli.run("approvals", "list", "--json")).stdout) as { callId: string }[]
  expect((await cli.run("approvals", "approve", item!.callId)).code).toBe(0)
  expect(existsSync(join(cli.cwd, "a.txt"))).toBe(false)
  expect((await cli.shell(last.resume!)).code).toBe(0)
  expect(readFileSync(join(cli.cwd, "a.txt"), "utf8")).toBe("hello")
})

test("Ctrl-C at the card of a step stops the run, answers nothing and says how to go on", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  cli.write("asking.yml", asking)
  const { code, stdout } = await cli.inTerminal(["pipeline", "run", "asking.yml"], [["Run write_file (", "\u0003"]])
  expect(code).toBe(6)
  const text = stripVTControlCharacters(stdout).replaceAll("\r", "")
  const said = text.slice(text.indexOf("> stopped"))
  expect(said).toMatch(
    /^> stopped\nStopping\. .+\n◌ write: write_file a\.txt content=hello, waits for a person\nStopped\. 1 of 2 steps succeeded, in .+\nWaiting for a person: operator wants to call write_file: a\.txt\. Answer with: qm approvals approve \S+\nGo on with: qm pipeline run asking\.yml --resume \S+\n$/,
  )
  const listed = JSON.parse((await cli.run("approvals", "list", "--json")).stdout) as { callId: string }[]
  expect(listed).toHaveLength(1)
})

/** A step that has its effect and then hangs until there is a file `go`. */
const sending = `steps:
  - { id: time, tool: current_time }
  - id: send
    tool: run_command
    input: { command: "echo sent >> sent.txt; while [ ! -e go ]; do sleep 0.05; done" }
    needs: [time]
  - { id: after, tool: current_time, needs: [send] }
outputs: { done: { $from: after#/timezone } }
`

/** Runs the pipeline until its approved step has sent, ends the process, and returns what goes on with it. */
async function sendAndEnd(end: "SIGKILL" | "SIGINT") {
  const cli = makeCli()
  cli.write("sending.yml", sending)
  const child = cli.start("pipeline", "run", "sending.yml", "--json", "--wait")
  const ended = outputOf(child, "")
  await waitForOutput(child, '"waiting"')
  const answer = async (how: string, ...words: string[]) => {
    const [item] = JSON.parse((await cli.run("approvals", "list", "--json")).stdout) as { callId: string }[]
    expect((await cli.run("approvals", how, item!.callId, ...words)).code).toBe(0)
  }
  await answer("approve")
  const sent = () => (existsSync(join(cli.cwd, "sent.txt")) ? readFileSync(join(cli.cwd, "sent.txt"), "utf8") : "")
  await until(() => sent() === "sent\n", "it has sent")
  child.kill(end)
  const { stdout } = await ended
  cli.write("go", "")
  const { id } = eventsOf(stdout).find(({ type }) => type === "start")!
  return { cli, sent, answer, resume: () => cli.run("pipeline", "run", "sending.yml", "--resume", id!) }
}

test.each<["SIGKILL" | "SIGINT", string, number, string, RegExp]>([
  ["SIGKILL", "It has happened", 0, "sent\n", /^● send: .+ … a person says that it has happened$/m],
  ["SIGKILL", "It has not happened", 0, "sent\nsent\n", /^● send: .+ … \d+/m],
  ["SIGKILL", "I cannot tell", 1, "sent\n", /The process ended while the tool ran; what it did is not known\./],
  ["SIGINT", "It has happened", 0, "sent\n", /^● send: .+ … a person says that it has happened$/m],
])(
  "after %s in the middle of a step, a person is asked before it runs again: %s",
  async (end, said, code, expected, line) => {
    const { cli, sent, answer, resume } = await sendAndEnd(end)
    const asked = await resume()
    expect(asked.code).toBe(4)
    expect(asked.stderr).toMatch(/^◌ send: .+, waits for a person$/m)
    const [, id = ""] = /qm approvals answer (\S+)/.exec(asked.stderr)!
    const { stdout: shown } = await cli.run("approvals", "show", id, "--json")
    expect(shown).toContain("If it has not happened, it is called again.")
    await answer("answer", said)
    // The approval was for one call, so that another one is asked about again.
    if (said === "It has not happened") {
      expect((await resume()).code).toBe(4)
      await answer("approve")
    }
    expect(sent()).toBe("sent\n")
    const ended = await resume()
    expect(ended.code).toBe(code)
    expect(ended.stderr).toMatch(line)
    expect(sent()).toBe(expected)
    expect((await cli.run("audit", "verify")).code).toBe(0)
  },
)
