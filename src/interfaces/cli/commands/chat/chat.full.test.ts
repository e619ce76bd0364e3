import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { startModelServer, type Reply } from "../../../../agents/testing/model-server.ts"
import { until } from "../../../../testing/test-app.ts"
import { makeCli } from "../../testing.ts"

const enter = "\r"
const controlC = "\u0003"
const controlD = "\u0004"
const menu = "escape later\r\n> "
/** A trusted project whose model is a loopback server with these replies. */
async function withServer(...replies: Reply[]) {
  const server = await startModelServer()
  onTestFinished(() => server.close())
  server.reply(...replies)
  const cli = await project(`{ provider: openai-compatible, baseUrl: "${server.openai}", model: x }`)
  return { ...cli, server }
}

async function withScript(script: string) {
  const cli = await project("{ provider: scripted, script: demo.yml }")
  cli.write("demo.yml", script)
  return cli
}

async function project(model: string) {
  const cli = makeCli({ NO_COLOR: "1" })
  cli.write("quartermaster.yml", `models:\n  main: ${model}\n`)
  await cli.run("trust", "--yes")
  const file = (name: string) => join(cli.cwd, name)
  return { ...cli, file, chat: cli.inTerminal.bind(undefined, ["chat", "--data", cli.dataDir]) }
}

const writes = `
- call: { write_file: { path: todo.md, content: Finish the notes. } }
- say: Written.
`

test("an answer is shown while it comes; Ctrl-C ends the turn and keeps the chat; Ctrl-D leaves", async () => {
  const { chat, server } = await withServer(
    { text: "one two three\nfour", pieces: 4, then: "hang" },
    { text: "Again." },
  )
  const { code, stdout } = await chat([
    ["/help", `Hello${enter}`],
    ["four", controlC],
    ["Stopped.", `Once more${enter}`],
    ["Again.", controlD],
  ])
  expect(code).toBe(0)
  expect(stdout).toMatch(/Go on with: qm --data \S+ chat --resume \S+\r\n$/)
  expect(server.requests.map(({ body }) => JSON.stringify(body["messages"])).at(-1)).toContain("Once more")
})

test("after the model failed, the chat says how to go on, and /retry asks it again", async () => {
  const { chat, server } = await withServer({ status: 401 }, { text: "Here I am." })
  const { stdout } = await chat([
    ["/help", `Hello${enter}`],
    ["/retry asks the model again", `/retry${enter}`],
    ["Here I am.", `/retry${enter}`],
    ["The model has not failed.", controlD],
  ])
  expect(stdout).toContain("Here I am.")
  expect(server.requests.map(({ body }) => (body["messages"] as unknown[]).at(-1))).toEqual([
    { role: "user", content: "Hello" },
    { role: "user", content: "Hello" },
  ])
})

test("a text that cannot be sent, because another process has the conversation, comes back into the input line", async () => {
  const { chat, inTerminal } = await withServer({ text: "Hi." }, { text: "one\ntwo", then: "hang" })
  const { stdout } = await chat([
    ["/help", `Hello${enter}`],
    [
      "Hi.",
      ({ stdin }) =>
        void inTerminal(
          ["chat", "--resume"],
          [
            ["/help", `Think${enter}`],
            ["one", () => stdin?.write(`Mine${enter}`)],
          ],
        ),
    ],
    ["Your text was not sent. It is in the input line again.", controlC + controlD],
  ])
  const [before, after] = stdout.split("Another process")
  expect(before).not.toContain("\n› Mine")
  expect(after).toContain("› Mine")
})

test("a call that asks shows its card inline, and a letter and Enter answer it", async () => {
  const { chat, file } = await withScript(writes)
  const { stdout } = await chat([
    ["/help", `Write it down${enter}`],
    [menu, `a${enter}`],
    ["Written.", controlD],
  ])
  expect(stdout).toContain("operator (operator) wants to call write_file [sensitive]")
  expect(stdout).toMatch(/● write_file todo\.md content=Finish the notes\. … \d+ ms, \d+ characters/)
  expect(readFileSync(file("todo.md"), "utf8")).toBe("Finish the notes.")
})

test("text that is typed while a call begins to wait never answers it; it steers when it is sent", async () => {
  const { chat, file } = await withScript(`
- call: { write_file: { path: todo.md, content: x } }
- branch:
    - when: { user: aa }
      steps: [{ say: I read what you said. }]
    - steps: [{ say: I read nothing. }]
`)
  const { stdout } = await chat([
    ["/help", `Go${enter}aaa`],
    ["send or clear your text to see it", enter],
    ["queued: aaa", ""],
    [menu, `r${enter}`],
    ["Why not?", `not now${enter}`],
    ["I read what you said.", controlD],
  ])
  expect(stdout).toMatch(/⊘ write_file .*not now/)
  expect(existsSync(file("todo.md"))).toBe(false)
})

test("a sentence that is typed at a card is no answer: it steers, and the card still waits; commands are refused", async () => {
  const { chat, file } = await withScript(`
- call: { write_file: { path: todo.md, content: x } }
- branch:
    - when: { user: and keep it short }
      steps: [{ say: I keep it short. }]
    - steps: [{ say: I read nothing. }]
`)
  const { stdout } = await chat([
    ["/help", `Go${enter}`],
    [menu, "a"],
    ["Enter: approve", "nd keep it short"],
    ["Enter: tell the agent", enter],
    ["The agent reads that when this is answered.", `/why${enter}`],
    ["Commands work in the chat.", `a${enter}`],
    ["I keep it short.", controlD],
  ])
  expect(stdout).toContain("› and keep it short")
  expect(existsSync(file("todo.md"))).toBe(true)
})

test("a call that is approved elsewhere while its card is shown runs, and what was being typed comes back", async () => {
  const { chat, run } = await withScript(writes)
  const approve = async () => {
    const [item] = JSON.parse((await run("approvals", "list", "--json")).stdout) as { callId: string }[]
    await run("approvals", "approve", item!.callId)
  }
  const { stdout } = await chat([
    ["/help", `Write it down${enter}`],
    [menu, "and then"],
    ["Enter: tell the agent", () => void approve()],
    ["› and then", controlC + controlD],
  ])
  expect(stdout).toMatch(/> (It was answered elsewhere, or its time is over|It is over; there is nothing to answer)\./)
  expect(stdout).not.toContain("Stopped.")
})

test("a card that is left for later goes on waiting, and Enter shows it again", async () => {
  const { chat, file } = await withScript(writes)
  await chat([
    ["/help", `Write it down${enter}`],
    [menu, "\u001b"],
    ["write_file needs your approval", enter],
    [menu, `a${enter}`],
    ["Written.", controlD],
  ])
  expect(existsSync(file("todo.md"))).toBe(true)
})

/** The process of the chat over this data folder. */
function pidOf(dataDir: string): number {
  const found = readdirSync("/proc").find((name) => {
    try {
      const words = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0")
      return words[0] === process.execPath && words.includes("chat") && words.includes(dataDir)
    } catch {
      return false // It has ended meanwhile.
    }
  })
  return Number(found)
}

test("killed at a card and resumed, nothing is lost and nothing runs twice", async () => {
  const { chat, inTerminal, dataDir, run } = await withScript(`
- say: First I look.
  call: { list_files: { path: . } }
- call: { write_file: { path: todo.md, content: "line", append: true } }
- say: Written.
`)
  await chat([
    ["/help", `Write it down${enter}`],
    [menu, () => process.kill(pidOf(dataDir), "SIGKILL")],
  ])
  const { stdout } = await inTerminal(
    ["chat", "--resume"],
    [
      [menu, `a${enter}`],
      ["Written.", controlD],
    ],
  )
  expect(stdout).toContain("› Write it down")
  const calls = JSON.parse((await run("audit", "list", "--json")).stdout) as { tool: string; status: string }[]
  expect(calls.map(({ tool, status }) => `${tool} ${status}`)).toEqual(["write_file success", "list_files success"])
})

test("a conversation goes on with the model it used last, and where there are several one is chosen", async () => {
  const cli = makeCli({ NO_COLOR: "1" })
  const models = ["one", "two"].map((name) => `  ${name}: { provider: scripted, script: ${name}.yml }\n`)
  cli.write("quartermaster.yml", `models:\n  default: one\n${models.join("")}`)
  cli.write("one.yml", "- say: I am one.\n- say: Still one.\n")
  cli.write("two.yml", "- say: Nothing.\n- say: I am two.\n- say: Still two.\n")
  await cli.run("trust", "--yes")
  await cli.inTerminal(
    ["chat"],
    [
      ["/help", `First${enter}`],
      ["I am one.", `/model two${enter}`],
      ["From the next message on: two.", `And you?${enter}`],
      ["I am two.", controlD],
    ],
  )
  const alone = await cli.inTerminal(["chat", "--resume"], [["/help", controlD]])
  expect(alone.stdout).toContain("operator · two · /help")
  await cli.inTerminal(
    ["chat"],
    [
      ["/help", `Second${enter}`],
      ["I am one.", controlD],
    ],
  )
  const { stdout } = await cli.inTerminal(
    ["chat", "--resume"],
    [
      ["Enter: 1]", `7${enter}`],
      ["Enter: 1]", `2${enter}`],
      ["/help", `Again${enter}`],
      ["Still two.", controlD],
    ],
  )
  expect(stdout).toMatch(/1 .* ago +operator +- +Second\r\n2 .* ago +operator +- +And you\?\r\n/)
  const left = await cli.inTerminal(["chat", "--resume"], [["Enter: 1]", controlC]])
  expect(left).toMatchObject({ code: 1, stdout: expect.stringContaining("No conversation was chosen.") as string })
  // The one that was used last is the first, though it was begun before the other.
  expect(left.stdout).toMatch(/1 .*Again\r\n2 .*Second\r\n/)
})

test.each([
  ["at its prompt", []],
  ["while the agent works", [["/help", `Hello${enter}`]]],
] as const)("a chat whose terminal goes away %s ends", async (_when, steps) => {
  const { chat, dataDir } = await withServer({ text: "one\ntwo", then: "hang" })
  const last = steps.length === 0 ? "/help" : "two"
  await chat([...steps, [last, (terminal) => terminal.kill("SIGKILL")]])
  await until(() => Number.isNaN(pidOf(dataDir)), "the chat ends")
})

test("output of a running command is shown while it runs, and folded afterwards", async () => {
  const { chat, write } = await withScript(`
- call: { run_command: { command: "echo first; until [ -e go ]; do sleep 0.1; done; echo second" } }
- say: It ran.
`)
  const { stdout } = await chat([
    ["/help", `Run it${enter}`],
    [menu, `a${enter}`],
    ["│ first", () => write("go", "")],
    ["It ran.", controlD],
  ])
  expect(stdout).toMatch(/● run_command echo first; until .* echo second … /)
})

test("left while a command runs, the chat says that it waits for it, and Ctrl-C stops it", async () => {
  const { chat } = await withScript(`
- call: { run_command: { command: "echo first; sleep 100" } }
- say: It ran.
`)
  const { stdout } = await chat([
    ["/help", `Run it${enter}`],
    [menu, `a${enter}`],
    ["│ first", controlD],
    ["A call still runs", controlC],
  ])
  expect(stdout).toContain("Go on with:")
})

test("slash commands look at the conversation; an unknown one names the nearest", async () => {
  const { chat } = await withScript("- say: Hello.\n")
  const { stdout } = await chat([
    ["/help", `Hi${enter}`],
    ["Hello.", `/cost${enter}`],
    ["1 answer, 0 calls", `/tolls${enter}`],
    ["Did you mean /tools?", `/model nope${enter}`],
    ["There is no model 'nope'", `/why sleep duration=1${enter}`],
    ["it runs without asking", `/audit${enter}`],
    ["No call was made yet.", `/agents${enter}`],
    ["you talk to it", `/tools${enter}`],
    ["workspace", `/quit${enter}`],
  ])
  expect(stdout).toMatch(/Go on with/)
})

test("a paste of several lines is one message, and the history keeps what was typed", async () => {
  const { chat, server, dataDir } = await withServer({ text: "Read." }, { text: "Read again." })
  await chat([
    ["/help", `\u001b[200~two\rlines\u001b[201~`],
    ["lines", enter],
    ["Read.", "\u001b[A"],
    ["lines", enter],
    ["Read again.", controlD],
  ])
  const messages = server.requests.at(-1)!.body["messages"] as { role: string; content: unknown }[]
  expect(messages.flatMap(({ role, content }) => (role === "user" ? [content] : []))).toEqual([
    "two\nlines",
    "two\nlines",
  ])
  expect(readFileSync(join(dataDir, "chat-history"), "utf8")).toBe('"two\\nlines"\n')
})
