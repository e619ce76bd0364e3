import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { modelOf } from "../testing/use-models.ts"
import type { LanguageModel, ModelMessage, ModelPart, ModelTurn } from "./port.ts"
import { runTurn } from "./run-turn.ts"
import { scripted } from "./scripted.ts"

function scriptFile(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), "qm-script-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, "demo.yml")
  writeFileSync(file, text)
  return file
}

const play = (text: string): LanguageModel => modelOf({ provider: "scripted", script: scriptFile(text) })

/** Answers every call with the result of that name. */
function answer({ content, calls }: ModelTurn, results: Record<string, string | Error>): ModelMessage[] {
  const parts = calls.map(({ id, name }) => {
    const result = results[name] ?? ""
    const output = result instanceof Error ? result.message : result
    return { type: "tool-result" as const, id, name, output, isError: result instanceof Error }
  })
  return [
    { role: "assistant", content },
    { role: "tool", content: parts },
  ]
}

const start: ModelMessage[] = [{ role: "user", content: "Look at a.txt." }]

const demo = `
- think: Hm.
  say: I look at the file.
  call: { read_file: { path: a.txt } }
  usage: { input: 100, output: 20, cached: 50 }
- expect: { tool: read_file, error: false }
- branch:
    - when: { contains: secret }
      steps:
        - say: I ask first.
          call: { ask_user: { question: May I? } }
        - say: Thank you.
    - steps:
        - call:
            - write_file: { path: b.txt, content: x }
            - write_file: { path: c.txt, content: y }
            - list_files:
- say: Done.
`

test("a script says, thinks and calls, with the usage it is given", async () => {
  const turn = await runTurn(play(demo), { messages: start })
  expect(turn).toMatchObject({
    text: "I look at the file.",
    reasoning: "Hm.",
    calls: [{ id: "call_1_0", name: "read_file", input: { path: "a.txt" } }],
    usage: { inputTokens: 100, outputTokens: 20, cachedTokens: 50 },
  })
})

test.each([
  ["a secret", ["ask_user"], ["Thank you.", "Done.", "The script has ended."]],
  ["nothing", ["write_file", "write_file", "list_files"], ["Done.", "The script has ended.", "The script has ended."]],
])("a branch follows what came: %s", async (result, calls, texts) => {
  const model = play(demo)
  let messages = [...start]
  const first = await runTurn(model, { messages })
  messages = [...messages, ...answer(first, { read_file: result })]
  const second = await runTurn(model, { messages })
  expect(second.calls.map(({ name }) => name)).toEqual(calls)
  messages = [...messages, ...answer(second, {})]
  for (const text of texts) {
    const turn = await runTurn(model, { messages })
    expect(turn.text).toBe(text)
    messages.push({ role: "assistant", content: turn.content })
  }
})

test("many conversations play one script at once, and go on with a new process and a shortened history", async () => {
  const file = scriptFile("- say: one\n- say: two\n- say: three\n")
  const model = modelOf({ provider: "scripted", script: file })
  const converse = async (name: string) => {
    const first = await runTurn(model, { messages: [{ role: "user", content: name }] })
    return [
      { role: "user" as const, content: name },
      { role: "assistant" as const, content: first.content },
    ]
  }
  const histories = await Promise.all(Array.from({ length: 20 }, (_, index) => converse(String(index))))
  const restarted = modelOf({ provider: "scripted", script: file })
  const next = await Promise.all(
    // Stored as JSON, and only the last message is left.
    histories.map((messages) =>
      runTurn(restarted, { messages: JSON.parse(JSON.stringify(messages.slice(1))) as ModelMessage[] }),
    ),
  )
  expect(next.map(({ text }) => text)).toEqual(Array(20).fill("two"))
})

test("a result that was not expected ends the turn with the line of the script", async () => {
  const model = play(demo)
  const first = await runTurn(model, { messages: start })
  const messages = [...start, ...answer(first, { read_file: new Error("It is not there.") })]
  await expect(runTurn(model, { messages })).rejects.toMatchObject({
    code: "script_failed",
    message: expect.stringMatching(
      /demo\.yml:6: .*Correct this line, or the calls before it\. read_file failed with: It is not there\./,
    ) as string,
  })
})

test("answers reply to what the user says, wherever the script is", async () => {
  const model = play(
    "answers:\n  - { to: summarise, say: They looked at files. }\nsteps:\n  - say: one\n  - say: two\n",
  )
  const first = await runTurn(model, { messages: start })
  const messages: ModelMessage[] = [
    ...start,
    { role: "assistant", content: first.content },
    { role: "user", content: "Summarise this." },
  ]
  const summary = await runTurn(model, { messages })
  expect(summary.text).toBe("They looked at files.")
  const after = await runTurn(model, {
    messages: [...messages, { role: "assistant", content: summary.content }, { role: "user", content: "Go on." }],
  })
  expect(after.text).toBe("two")
})

test("a delay is waited before the turn, a pace before each word, and both end with the signal", async () => {
  const waits: number[] = []
  const stream = scripted(scriptFile("- { say: slow and steady, delay: 5000, pace: 40 }"), (ms) =>
    Promise.resolve(void waits.push(ms)),
  )
  const parts: ModelPart[] = []
  for await (const part of stream({ messages: start })) parts.push(part)
  expect(waits).toEqual([5000, 40, 40, 40])
  expect(parts.flatMap((part) => (part.type === "text" && part.text !== "" ? [part.text] : []))).toEqual([
    "slow ",
    "and ",
    "steady",
  ])
  const signal = AbortSignal.abort(new Error("enough"))
  for (const wait of ["delay: 600000", "pace: 10000"])
    await expect(runTurn(play(`- { say: x, ${wait} }`), { messages: start, signal })).rejects.toThrow("enough")
})

test("where calls are forbidden, a script makes none", async () => {
  const turn = await runTurn(play(demo), { messages: start, toolChoice: "none" })
  expect(turn).toMatchObject({ text: "I look at the file.", calls: [], finishReason: "stop" })
})

test.each<[string, RegExp[]]>([
  [
    "- say: one\n- cal: { a: {} }\n",
    [/demo\.yml:2: 'steps\[1\]\.cal' is not a key of a script\. Did you mean 'call'\?/],
  ],
  ["- say: one\n  expect: { tool: a }\n", [/demo\.yml:1: 'steps\[0\]' is not right: a step has either say/]],
  ["- {}\n", [/demo\.yml:1: .*a step has either/]],
  [
    "- say: 5\n- delay: soon\n  say: x\n",
    [/:1: 'steps\[0\]\.say' cannot be of type number/, /:2: 'steps\[1\]\.delay' cannot be/],
  ],
  ["- branch:\n    - when: { contain: x }\n      steps: []\n", [/:2: .*Did you mean 'contains'\?/]],
  ["- branch:\n    - when: { contains: x }\n", [/:2: 'steps\[0\]\.branch\[0\]\.steps' is missing/]],
  ["- call: read_file\n", [/:1: 'steps\[0\]\.call' is not right: it must be a tool's name/]],
  ["- call: { read_file: a.txt }\n", [/:1: 'steps\[0\]\.call\.read_file' cannot be of type string/]],
  ["say: one\n", [/:1: 'steps' is missing/, /:1: 'say' is not a key of a script/]],
  ["- say: [\n", [/demo\.yml:1: The \[ that opens here is never closed/]],
  ["hello\n", [/demo\.yml:1: The script cannot be of type string/]],
  ["", [/demo\.yml:1: The script/]],
])("the script %j is refused with its lines", async (text, problems) => {
  const error = await runTurn(play(text), { messages: start }).catch((thrown: unknown) => thrown as Error)
  expect(error).toMatchObject({ code: "bad_script" })
  expect((error as Error).message.split("\n")).toEqual(
    problems.map((problem) => expect.stringMatching(problem) as string),
  )
})

test("a script that is not there is named, and read once it is", async () => {
  const file = scriptFile("- say: hello\n")
  const missing = modelOf({ provider: "scripted", script: `${file}.gone` })
  await expect(runTurn(missing, { messages: start })).rejects.toMatchObject({ code: "bad_script" })
  writeFileSync(`${file}.gone`, "- say: hello\n")
  expect((await runTurn(missing, { messages: start })).text).toBe("hello")
})
