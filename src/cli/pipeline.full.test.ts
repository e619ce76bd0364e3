import { cpSync, existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { until } from "../testing/test-app.ts"
import { makeCli, outputOf } from "./testing.ts"

const examples = fileURLToPath(new URL("../../examples/", import.meta.url))

test("the example runs in the sample's workspace: it is checked, waits, and goes on when its write is approved", async () => {
  const { cwd, run, shell } = makeCli()
  cpSync(join(examples, "sample/workspace"), cwd, { recursive: true })
  const file = join(examples, "report.yml")
  const planned = await run("pipeline", "run", file, "--dry-run")
  expect(planned).toMatchObject({ code: 0, stderr: "" })
  expect(planned.stdout).toMatch(/^4 +write +ask +write_file input#\/file content=text#\/result$/m)
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
}

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
  const events = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Event)
  expect(events.filter(({ type }) => type === "step").map(({ step, status }) => [step, status])).toEqual([
    ["time", "success"],
    ["wait", "aborted"],
    ["after", "aborted"],
  ])
})
