import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { dataFolder, openTestApp, tool } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

const steps = `name: sample
input: { word: { default: hello } }
steps:
  - { id: a, tool: say, input: { text: { $from: input#/word } } }
  - { id: b, tool: send, input: { text: { $from: a#/text } } }
  - { id: c, tool: say, input: { text: never }, when: { step: a, is: failed } }
outputs: { said: { $from: a#/text } }
`

/** `qm` in one folder with a pipeline, each command with an app of its own, and which tools ran in all of them. */
async function setUp(yaml = steps) {
  const dir = await dataFolder()
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), "qm-pipeline-")))
  onTestFinished(() => rmSync(cwd, { recursive: true, force: true }))
  writeFileSync(join(cwd, "p.yml"), yaml)
  const ran: string[] = []
  const input = { type: "object", additionalProperties: true } as const
  const run = (...words: string[]) =>
    runWithApp({}, words, {
      cwd,
      runtime: {
        async openApp(_loaded, options = {}) {
          const rules = [{ deny: "erase", because: "Nothing is erased." }]
          const app = await openTestApp({ data: { dir }, rules }, options)
          app.registry.registerMany([
            tool({ name: "say", input, execute: (given: object) => (ran.push("say"), given) }),
            tool({ name: "send", input, effect: "communicate", execute: () => void ran.push("send") }),
            tool({ name: "erase", execute: () => void ran.push("erase") }),
            tool({
              name: "fail",
              execute: (): never => {
                throw new Error("It is broken.")
              },
            }),
          ])
          return app
        },
      },
    })
  return { run, ran }
}

const events = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string })

test("a dry run prints the waves with the verdict on each step, and what decides it; nothing runs", async () => {
  const { run, ran } = await setUp()
  const { code, stdout } = await run("pipeline", "run", "p.yml", "--dry-run")
  expect(stdout.split("\n")).toEqual([
    "sample: 3 steps in 2 waves, as agent operator. 1 asks a person. Nothing was run.",
    "",
    "1  a  allow  say hello",
    "2  b  ask    send a#/text",
    expect.stringMatching(/^ {13}Tool send is moderate/) as string,
    "   c  allow  say never",
    "             Only if step a is failed.",
    "",
  ])
  expect([code, ran]).toEqual([0, []])
})

test("a run prints a line for each step and the output; one that waits goes on with --resume and runs nothing twice", async () => {
  const { run, ran } = await setUp()
  const waiting = await run("pipeline", "run", "p.yml", "--input", "word=hi there")
  expect(waiting).toMatchObject({ code: 4, stdout: "hi there\n" })
  expect(waiting.stderr).toMatch(/^● a: say hi there … \d+ ms$/m)
  expect(waiting.stderr).toMatch(/^◌ b: send hi there, waits for a person$/m)
  expect(waiting.stderr).toMatch(/^○ c: skipped\. Its condition is false: step a is failed\.$/m)
  const [, approve = ""] = /Answer with: qm (.+)$/m.exec(waiting.stderr)!
  const [, id = ""] = /go on with: qm pipeline run p\.yml --resume (\S+) --input 'word=hi there'$/m.exec(
    waiting.stderr,
  )!
  expect((await run(...approve.split(" "))).code).toBe(0)
  const resume = ["pipeline", "run", "p.yml", "--resume", id.slice(0, 24), "--input", "word=hi there"]
  const ended = await run(...resume)
  expect(ended).toMatchObject({ code: 0, stdout: "hi there\n" })
  expect(ended.stderr).toMatch(/^2 of 3 steps succeeded, in /m)
  expect(ran).toEqual(["say", "send"])
})

test("--json prints an event a line, the last with the outputs", async () => {
  const { run } = await setUp()
  const { stdout } = await run("pipeline", "run", "p.yml", "--json")
  const printed = events(stdout)
  expect(printed.map(({ type, step }) => [type, step]).filter(([type]) => type !== "call")).toEqual([
    ["start", undefined],
    ["step", "a"],
    ["step", "c"],
    ["step", "b"],
    ["waiting", undefined],
    ["end", undefined],
  ])
  expect(printed.at(-1)).toMatchObject({ status: "waiting", outputs: { said: "hello" }, problems: [] })
  expect(printed.at(-1)!["resume"]).toBe(`qm pipeline run p.yml --resume ${String(printed.at(-1)!["id"])}`)
})

test.each<[string, string, number, RegExp]>([
  ["a step that fails", "steps: [{ id: a, tool: fail }]", 1, /^✗ a: fail: It is broken\.$/m],
  ["a tool that is not there", "steps:\n  - { id: a, tool: saay }", 2, /^p\.yml:2: Step 'a': Tool "saay" not found\./m],
  ["a call that is denied", "steps:\n  - { id: a, tool: erase }", 3, /^p\.yml:2: Step 'a': it would be denied\./m],
  [
    "an input that is missing",
    "input: { x: {} }\nsteps: [{ id: a, tool: say }]",
    2,
    /^p\.yml:1: The input 'x' has no/m,
  ],
])("%s ends the run with its exit code, as check says before where it can", async (_, yaml, code, said) => {
  const { run, ran } = await setUp(yaml)
  const ended = await run("pipeline", "run", "p.yml")
  expect(ended).toMatchObject({ code, stdout: "" })
  expect(ended.stderr).toMatch(said)
  const checked = await run("pipeline", "check", "p.yml")
  expect(checked.code).toBe(code === 1 ? 0 : code)
  expect(ran).toEqual([])
})

test("a pipeline with several problems tells them all, with their number", async () => {
  const { run } = await setUp("steps:\n  - { id: a, tool: saay }\n  - { id: b, tool: say, needs: [c] }")
  for (const words of [
    ["run", "p.yml"],
    ["run", "p.yml", "--dry-run"],
    ["check", "p.yml"],
  ]) {
    const { code, stdout, stderr } = await run("pipeline", ...words)
    expect([code, stdout]).toEqual([2, ""])
    expect(stderr.split("\n").map((line) => line.slice(0, 24))).toEqual([
      "p.yml:2: Step 'a': Tool ",
      "p.yml:3: Step 'b' refers",
      "2 problems, so nothing w",
      "",
    ])
  }
})

test.each<[string, string[], number, string]>([
  ["a file that is not there", ["no.yml"], 2, "There is no file no.yml. Write the path of a pipeline."],
  ["a run that is not there", ["p.yml", "--resume", "123"], 1, "There is no run 123 of agent operator."],
])("%s is told as a sentence", async (_, words, code, sentence) => {
  const { run, ran } = await setUp()
  const ended = await run("pipeline", "run", ...words)
  expect(ended.code).toBe(code)
  expect(ended.stderr).toContain(sentence)
  expect(ran).toEqual([])
})
