import { stripVTControlCharacters } from "node:util"
import { expect, test } from "vitest"
import { modelOf, playedModel, type PlayedTurn } from "../../../../agents/testing/played-model.ts"
import { expectWellFormed } from "../../../../agents/testing/well-formed.ts"
import { ModelError } from "../../../../agents/models/model-error.ts"
import type { LanguageModel } from "../../../../agents/models/port.ts"
import { dataFolder, openTestApp, tool } from "../../../../testing/test-app.ts"
import { runWithApp } from "../../testing.ts"

/** `qm` over one data folder, each command with an app and a model of its own, and which tools ran in all of them. */
async function setUp() {
  const dir = await dataFolder()
  const ran: string[] = []
  const agents: { maxRounds?: number } = {}
  const run = (words: readonly string[], models: Record<string, LanguageModel>, stdin?: string, terminal = false) =>
    runWithApp({}, words, {
      terminal,
      ...(stdin !== undefined && { stdin }),
      runtime: {
        async openApp(_loaded, options = {}) {
          const app = await openTestApp({ data: { dir }, agents }, { ...options, models })
          app.registry.register(tool({ name: "look", effect: "read", execute: () => void ran.push("look") }))
          app.registry.register(tool({ name: "send", effect: "communicate", execute: () => void ran.push("send") }))
          return app
        },
      },
    })
  const play = (words: readonly string[], ...turns: PlayedTurn[]) => run(words, { played: modelOf(...turns) })
  return { run, play, ran, agents }
}

const events = (stdout: string) =>
  stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown> & { type: string })

test("run prints the answer on stdout, one line for each call on stderr, and exits with 0", async () => {
  const { play, ran } = await setUp()
  const ended = await play(
    ["run", "Look", "around."],
    { say: "I look.", calls: [{ name: "look" }] },
    { say: "Nothing." },
  )
  expect(ended).toMatchObject({ code: 0, stdout: "Nothing.\n" })
  expect(ended.stderr).toMatch(/^I look\.\n● look … \d+ ms, \d+ characters\n$/)
  expect(ran).toEqual(["look"])
})

test("run --json prints an event a line, the last with the result and what was used", async () => {
  const { play } = await setUp()
  const { code, stdout } = await play(["run", "Look.", "--json"], { calls: [{ name: "look" }] }, { say: "Nothing." })
  const printed = events(stdout)
  expect(printed.map(({ type }) => type)).toEqual(["start", "call", "result", "text", "end"])
  expect(printed[0]).toMatchObject({ agent: "operator", model: "played", resumed: false })
  expect(printed[2]).toMatchObject({ tool: "look", status: "success" })
  expect(printed.at(-1)).toMatchObject({ status: "completed", content: "Nothing.", stats: { rounds: 2, calls: 1 } })
  expect(code).toBe(0)
})

test("without a flag the limits of the configuration count, also after they are raised for a run that goes on", async () => {
  const { run, agents } = await setUp()
  const models = {
    played: playedModel(({ toolChoice }) => (toolChoice === "none" ? { say: "More." } : { calls: [{ name: "look" }] })),
  }
  const usual = events((await run(["run", "Look.", "--json"], models)).stdout)
  expect(usual.at(-1)).toMatchObject({ status: "limit", error: expect.stringContaining("its limit of 50 answers") })
  for (const maxRounds of [1, 3]) {
    agents.maxRounds = maxRounds
    const words = maxRounds === 1 ? ["run", "Look."] : ["run", "--resume", String(usual[0]!["id"]), "Go on."]
    expect((await run(words, models)).stderr).toContain(`its limit of ${maxRounds} answer`)
  }
})

test("the task comes from stdin with -, after what the words say", async () => {
  const { run } = await setUp()
  const model = modelOf({ say: "Read." })
  await run(["run", "Review", "this:", "-"], { played: model }, "the change\n")
  expect(model.requests[0]!.messages.at(-1)).toEqual({ role: "user", content: "Review this:\n\nthe change" })
})

test("a call that asks ends the run with 4; answered, --resume goes on and runs it once", async () => {
  const { play, ran } = await setUp()
  const asked = await play(["run", "Send it.", "--json"], { calls: [{ name: "look" }, { name: "send" }] })
  const waiting = events(asked.stdout).find(({ type }) => type === "waiting")
  const end = events(asked.stdout).at(-1)!
  expect([asked.code, end["status"], ran]).toEqual([4, "waiting", ["look"]])
  expect(end["resume"]).toBe(`qm run --resume ${String(end["id"])}`)
  const approved = await play((waiting!["answer"] as string).split(" ").slice(1), {})
  expect(approved.code).toBe(0)
  const resumed = await play(["run", "--resume", String(end["id"])], { say: "Sent." })
  expect(resumed).toMatchObject({ code: 0, stdout: "Sent.\n" })
  expect(ran).toEqual(["look", "send"])
  const again = await play(["run", "--resume", String(end["id"])])
  expect(again).toMatchObject({ code: 0, stdout: "Sent.\n" })
})

test("--resume with a new task takes the place of what waits", async () => {
  const { play, run, ran } = await setUp()
  const asked = await play(["run", "Send it.", "--json"], { calls: [{ name: "look" }, { name: "send" }] })
  const id = String(events(asked.stdout).at(-1)!["id"])
  const model = modelOf({ say: "X is done." })
  const resumed = await run(["run", "--resume", id, "Do X instead."], { played: model })
  expect(resumed).toMatchObject({ code: 0, stdout: "X is done.\n" })
  const { messages } = model.requests[0]!
  expectWellFormed(messages)
  expect(messages.at(-1)).toEqual({ role: "user", content: "Do X instead." })
  expect((await play(["approvals", "list", "--json"])).stdout.trim()).toBe("[]")
  expect(ran).toEqual(["look"])
})

test("without a terminal, what waits is told with the commands that answer it and go on", async () => {
  const { play } = await setUp()
  const { code, stdout, stderr } = await play(["run", "Send it."], { say: "I send.", calls: [{ name: "send" }] })
  expect([code, stdout]).toEqual([4, ""])
  expect(stderr).toMatch(
    /Waiting for a person: operator wants to call send: .*\. Answer with: qm approvals approve \S+\nThen go on with: qm run --resume \S+\n$/,
  )
})

test("--wait with seconds waits so long, then ends with 4", async () => {
  const { play } = await setUp()
  const { code, stderr } = await play(["run", "Send it.", "--wait", "0.05"], { calls: [{ name: "send" }] })
  expect(code).toBe(4)
  expect(stderr).toContain("Waiting for a person")
})

const failing = playedModel(() => {
  throw new ModelError("wrong_key", "The server refused the key. Set the variable KEY.")
})

test.each<[string, readonly string[], Record<string, LanguageModel>, number, RegExp]>([
  [
    "a limit",
    ["run", "Look.", "--max-rounds", "1"],
    { a: modelOf({ say: "More.", calls: [{ name: "look" }] }) },
    5,
    /The run reached its limit of 1 answer with tool calls\. 'agents\.maxRounds' in the configuration raises it, and --max-rounds of 'qm run' for one conversation\. Go on with: qm run --resume \S+ "Go on\."\n$/,
  ],
  [
    "a model that fails",
    ["run", "Look."],
    { a: failing },
    1,
    /^The server refused the key\. Set the variable KEY\.\nAsk the model again with: qm run --resume \S+\n$/,
  ],
  [
    "an answer without a word",
    ["run", "Look."],
    { a: modelOf({ say: " " }) },
    0,
    /^The model ended without an answer\. Ask again with: qm run --resume \S+ "Go on\."\n$/,
  ],
  [
    "no model",
    ["run", "Look."],
    {},
    1,
    /^No model is configured\. Add one to quartermaster\.yml, for example:\n\nmodels:/,
  ],
  ["an unknown model", ["run", "Look.", "--model", "b"], { a: failing }, 1, /^There is no model 'b'/],
  ["several models and no default", ["run", "Look."], { a: failing, b: failing }, 1, /^No default model is set/],
  ["an unknown agent", ["run", "Look.", "--agent", "opperator"], { a: failing }, 1, /Did you mean 'operator'\?/],
  ["an unknown conversation", ["run", "--resume", "nope"], { a: failing }, 1, /^There is no conversation 'nope'/],
  ["no task", ["run"], { a: failing }, 2, /^There is no task\. Write it after 'qm run'/],
  ["a task in place of seconds", ["run", "--wait", "Look."], { a: failing }, 2, /Write the task before it\./],
])("%s: exit code and sentence", async (_what, words, models, code, sentence) => {
  const { run } = await setUp()
  const ended = await run(words, models)
  expect(ended.stderr).toMatch(sentence)
  expect(ended.code).toBe(code)
})

test.each([
  ["error", { a: failing }, /^qm run --resume \S+$/],
  ["limit", { a: modelOf({ say: "More.", calls: [{ name: "look" }] }) }, /^qm run --resume \S+ "Go on\."$/],
])("run --json says how to go on after %s", async (status, models, resume) => {
  const { run } = await setUp()
  const { stdout } = await run(["run", "Look.", "--max-rounds", "1", "--json"], models)
  expect(events(stdout).at(-1)).toMatchObject({ status, resume: expect.stringMatching(resume) as string })
})

test("after an error, --resume asks the model again", async () => {
  const { run, play } = await setUp()
  const { stdout } = await run(["run", "Look.", "--json"], { played: failing })
  const words = (events(stdout).at(-1)!["resume"] as string).split(" ").slice(1)
  expect(await play(words, { say: "Nothing." })).toMatchObject({ code: 0, stdout: "Nothing.\n" })
})

test("on a terminal, run shows what happens as long as nothing else is printed; in a pipe it shows none of it", async () => {
  const slow = () =>
    playedModel(async (_request, round) => {
      await new Promise((resolve) => setTimeout(resolve, 300))
      return round === 0 ? { calls: [{ name: "look" }] } : { say: "Nothing." }
    })
  const { run } = await setUp()
  const shown = await run(["run", "Look."], { a: slow() }, undefined, true)
  expect(shown.stderr).toContain("thinking · Ctrl-C stops it")
  // Every row is erased before the next is drawn or something else is printed, the last one too.
  const rows = shown.stderr.split("\r\u001b[K").map((row) => stripVTControlCharacters(row))
  expect(rows.filter((row) => row.includes("●"))).toEqual([expect.stringMatching(/^● look … .*\n$/)])
  expect(rows.at(-1)).toBe("")
  const piped = await run(["run", "Look."], { a: slow() })
  expect(piped.stderr).toMatch(/^● look … \d+ ms, \d+ characters\n$/)
})

test("on a terminal, run says that the model is asked again, and when", async () => {
  const { run } = await setUp()
  const busy = playedModel((_request, round) => {
    if (round === 0) throw new ModelError("rate_limited", "The server is busy.", 400)
    return { say: "Nothing." }
  })
  const { code, stderr } = await run(["run", "Look."], { a: busy }, undefined, true)
  expect(code).toBe(0)
  expect(stderr).toContain("the model does not answer, trying again in 1 s · Ctrl-C stops it")
})

test("chat needs a terminal, and says what to use without one", async () => {
  const { run } = await setUp()
  expect(await run(["chat"], { a: failing })).toEqual({
    code: 2,
    stdout: "",
    stderr: "There is no terminal to talk in. In a script use 'qm run', which takes the task as words.\n",
  })
})

const brief = {
  objective: "Count.",
  constraints: [],
  inputs: "none",
  outputs: "a number",
  completion_criteria: "a number",
}
const spawning = (name: string): PlayedTurn => ({
  calls: [{ name: "create_role", input: { name, rolePrompt: `You are the ${name}.` } }],
})

/** A model that plays root, which hires somebody, and the one it hires. */
function hiring(hired: PlayedTurn, ...then: PlayedTurn[]) {
  let turns = [hired, ...then]
  return playedModel(({ messages }) => {
    const texts = messages.map(({ content }) => (typeof content === "string" ? content : JSON.stringify(content)))
    if (texts[0]?.startsWith("You are the helper.")) {
      const [turn, ...rest] = turns
      if (rest.length > 0) turns = rest
      return turn!
    }
    const last = texts.at(-1)!
    const answer = /The answer of.*\n(.*)\n<\/message/s.exec(last)?.[1]
    if (answer !== undefined) return { say: `It says: ${answer}` }
    if (last.includes("messageId")) return { say: "I asked the helper." }
    const roleId = /\\"id\\":\s*\\"([^"\\]+)/.exec(last)?.[1]
    if (roleId === undefined) return spawning("helper")
    return { calls: [{ name: "spawn_agent_with_task", input: { roleId, taskBrief: brief, initialMessage: "Go." } }] }
  })
}

test("run goes on until the agents it asked have answered, and prints the last answer", async () => {
  const { run } = await setUp()
  const ended = await run(["run", "Count.", "--agent", "root"], { played: hiring({ say: "Seven." }) })
  expect(ended).toMatchObject({ code: 0, stdout: "It says: Seven.\n" })
  expect(ended.stderr).toMatch(/↳ \S+ works\n[^]*↳ \S+ is done\n/)
})

test("run ends with 4 when an agent it asked waits for a person; answered, --resume goes on to its answer", async () => {
  const { run, ran } = await setUp()
  const model = hiring({ calls: [{ name: "send" }] }, { say: "Sent." })
  const asked = await run(["run", "Send it.", "--agent", "root", "--json"], { played: model })
  const waiting = events(asked.stdout).find(({ type }) => type === "waiting")
  expect(asked.code).toBe(4)
  expect(waiting).toMatchObject({ tool: "send" })
  await run((waiting!["answer"] as string).split(" ").slice(1), { played: model })
  const { id } = events(asked.stdout).at(-1) as unknown as { id: string }
  const resumed = await run(["run", "--resume", id], { played: model })
  expect(resumed).toMatchObject({ code: 0, stdout: "It says: Sent.\n" })
  expect(ran).toEqual(["send"])
})

test("run shows calls that were not made, and an answer that was cut off", async () => {
  const { play, ran } = await setUp()
  const turns: PlayedTurn[] = [{ calls: [{ name: "look", input: "{" }] }, { say: "The three facts", finish: "length" }]
  const ended = await play(["run", "Look."], ...turns)
  expect(ended).toMatchObject({ code: 0, stdout: "The three facts\n" })
  expect(ended.stderr).toMatch(/^⊘ look: The arguments are not valid JSON/)
  expect(ended.stderr).toMatch(/provider cut the answer off\. Go on with: .* run --resume \S+ "Go on\."/)
  const printed = events((await play(["run", "Look.", "--json"], ...turns)).stdout)
  expect(printed.map(({ type }) => type)).toEqual(["start", "refused", "text", "end"])
  expect(printed[1]).toMatchObject({ tool: "look", error: expect.stringMatching(/^NOT EXECUTED/) as string })
  expect(printed.at(-1)).toMatchObject({ status: "completed", finishReason: "length" })
  expect(ran).toEqual([])
})
