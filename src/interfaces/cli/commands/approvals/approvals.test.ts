import { expect, test } from "vitest"
import type { Approvals } from "../../../../approvals/queue/approvals.ts"
import { samplePendingItem } from "../../../../approvals/ask/testing.ts"
import type { PendingItem, AnswerResult, Question } from "../../../../core/approval.ts"
import type { Grant } from "../../../../core/rule.ts"
import { readAnswer, readReplacement, splitPointers } from "./read-answer.ts"
import { runWithApp } from "../../testing.ts"

const item = (replaced: Partial<PendingItem> = {}): PendingItem =>
  samplePendingItem({
    callId: "0198-call",
    agentId: "dev",
    role: "developer",
    tool: "set_env",
    description: "",
    input: { key: "A" },
    remember: [{ scope: "tool-session", words: "Agent dev may call set_env." }],
    sessionId: "s",
    createdAt: Date.now() - 65_000,
    ...replaced,
  })

/** A fake approval queue that records calls; `show` returns the items of `waiting` one after the other. */
function cliWithPending(
  waiting: (PendingItem | undefined)[],
  heard: AnswerResult = { ok: true, done: true, code: "answer_settled", sentence: "Answered." },
) {
  const received: unknown[] = []
  const approvals: Partial<Approvals> = {
    list: ({ agentId } = {}) => (
      received.push(["list", agentId]),
      Promise.resolve(waiting.flatMap((each) => each ?? []))
    ),
    show: () => Promise.resolve(waiting.length > 1 ? waiting.shift() : waiting[0]),
    answer: (...what) => (received.push(what), Promise.resolve(heard)),
    grants: (filter) => (received.push(filter), Promise.resolve([])),
    revoke: (id) => Promise.resolve(id === "g1" ? ({ id, words: "Agent dev may call set_env." } as Grant) : undefined),
  }
  return { received, run: (...words: string[]) => runWithApp({ approvals }, words) }
}

test("pending items are listed with how long they have waited, until when, and by agent", async () => {
  const until = new Date(2026, 0, 5, 7, 8, 9).getTime()
  const { run, received } = cliWithPending([item(), item({ callId: "0199-held", kind: "result", until })])
  const { stdout } = await run("approvals", "--agent", "dev")
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["ID", "RISK", "KIND", "AGENT", "TOOL", "ABOUT", "WAITS", "UNTIL"],
    ["0198-call", "low", "call", "dev", "set_env", expect.any(String), "1m 5s", "-"],
    ["0199-held", "medium", "result", "dev", "set_env", expect.any(String), "1m 5s", "2026-01-05 07:08:09"],
    [""],
  ])
  expect(received).toEqual([["list", "dev"]])
  const said = await cliWithPending([item({ intent: "To set it." })]).run("approvals")
  expect(said.stdout).toMatch(/THE AGENT SAYS \(UNVERIFIED\)\n.*"To set it\."\n/)
  expect(await cliWithPending([]).run("approvals", "list")).toEqual({
    code: 0,
    stdout: "",
    stderr: "Nothing waits for a person.\n",
  })
})

test.each<[PendingItem["kind"], string[]]>([
  [
    "call",
    [
      "  qm approvals approve 0198-call",
      "  qm approvals approve 0198-call --remember tool-session",
      '  qm approvals edit 0198-call \'{"…":"…"}\'',
      '  qm approvals reject 0198-call --reason "…"',
    ],
  ],
  [
    "result",
    [
      "  qm approvals release 0198-call",
      "  qm approvals release 0198-call --redact /a/b,/c",
      '  qm approvals withhold 0198-call --reason "…"',
    ],
  ],
  ["question", ["  qm approvals answer 0198-call …", '  qm approvals reject 0198-call --reason "…"']],
])("a waiting %s is shown in full, with the commands that answer it", async (kind, commands) => {
  const { run } = cliWithPending([item({ kind })])
  const { stdout } = await run("approvals", "show", "0198")
  expect(stdout).toMatch(/^(Low|Medium) risk.*\n(dev \(developer\) .*set_env|set_env has run for dev)/)
  const lines = stdout.trimEnd().split("\n")
  expect(lines.slice(lines.indexOf("Answer with one of:"))).toEqual(["Answer with one of:", ...commands])
  expect(JSON.parse((await run("approvals", "show", "0198", "--json")).stdout)).toMatchObject({ kind, revision: 1 })
})

test.each<PendingItem["kind"]>(["call", "result", "question"])(
  "every command that answers a changed %s names the shown revision",
  async (kind) => {
    const { run } = cliWithPending([item({ kind, revision: 3 })])
    const { stdout } = await run("approvals", "show", "0198")
    const commands = stdout.split("\n").filter((line) => line.startsWith("  qm"))
    expect(commands.length).toBeGreaterThan(1)
    for (const command of commands) expect(command).toMatch(/^ {2}qm approvals [a-z]+ 0198-call --revision 3( |$)/)
  },
)

test.each([
  ["approve", "call"],
  ["release", "result"],
] as const)("'%s' without a revision is refused for a changed %s", async (verb, kind) => {
  const { run, received } = cliWithPending([item({ kind, revision: 3 })])
  const refused = await run("approvals", verb, "01")
  expect(refused).toEqual({
    code: 1,
    stdout: "",
    stderr: `0198-call has changed and is at revision 3. Look at it with 'qm approvals show 0198-call', then run 'qm approvals ${verb} 0198-call --revision 3'.\n`,
  })
  expect(JSON.parse((await run("approvals", verb, "01", "--json")).stdout)).toMatchObject({ ok: false })
  expect(received).toEqual([])
  expect(await run("approvals", verb, "01", "--revision", "3")).toMatchObject({ code: 0 })
  expect(received).toEqual([["0198-call", { kind: verb }, "ada", 3]])
})

test("a person who does not exist is refused, also where nothing waits", async () => {
  const identifyPerson = () => Promise.reject(new Error("There is no person 'bob'."))
  const run = (...words: string[]) =>
    runWithApp({ approvals: { list: () => Promise.resolve([]) } }, words, { runtime: { identifyPerson } })
  expect(await run("--as", "bob", "approvals")).toMatchObject({ code: 3, stderr: "There is no person 'bob'.\n" })
  expect((await run("approvals")).code).toBe(0)
})

test("rejecting needs no revision and applies to the current one", async () => {
  const { run, received } = cliWithPending([item({ revision: 3 })])
  for (const verb of ["reject", "withhold"]) expect(await run("approvals", verb, "01")).toMatchObject({ code: 0 })
  expect(received).toEqual([
    ["0198-call", { kind: "reject" }, "ada", 3],
    ["0198-call", { kind: "withhold" }, "ada", 3],
  ])
})

test.each<[string[], unknown]>([
  [["approve", "01"], { kind: "approve" }],
  [["approve", "01", "--remember", "tool-session"], { kind: "approve", remember: "tool-session" }],
  [["approve", "01", "--remember", "task"], { kind: "approve", remember: "task" }],
  [["approve", "01", "--remember", "minutes"], { kind: "approve", remember: "minutes" }],
  [["approve", "01", "--remember", "minutes:480"], { kind: "approve", remember: "minutes", minutes: 480 }],
  [["reject", "01"], { kind: "reject" }],
  [
    ["reject", "01", "--reason", "no", "--remember", "tool-always"],
    { kind: "reject", reason: "no", remember: "tool-always" },
  ],
  [["release", "01"], { kind: "release" }],
  [["release", "01", "--redact", "/a/b,/c", "--redact", "/d"], { kind: "release", redact: ["/a/b", "/c", "/d"] }],
  [["release", "01", "--replace", '{"n":1}'], { kind: "release", replace: { n: 1 } }],
  [["release", "01", "--replace", "nothing to see"], { kind: "release", replace: "nothing to see" }],
  [["withhold", "01", "--reason", "private"], { kind: "withhold", reason: "private" }],
  [["answer", "01", "dark", "red"], { kind: "answer", value: "dark red" }],
])("%j answers the current revision as the person who runs it", async (words, saying) => {
  const { run, received } = cliWithPending([item()])
  expect(await run("approvals", ...words)).toEqual({
    code: 0,
    stdout: "set_env of dev (A): Answered.\n",
    stderr: "",
  })
  await run("approvals", ...words, "--as", "eve", "--revision", "2")
  expect(received).toEqual([
    ["0198-call", saying, "ada", 1],
    ["0198-call", saying, "eve", 2],
  ])
})

test("a refused answer exits with 1 and says why; an id that no longer waits is passed on", async () => {
  const { run, received } = cliWithPending([undefined], { ok: false, sentence: "eve has answered already: no." })
  const words = ["approvals", "approve", "0198-gone"]
  expect(await run(...words)).toEqual({ code: 1, stdout: "", stderr: "eve has answered already: no.\n" })
  expect(received).toEqual([
    ["list", undefined],
    ["0198-gone", { kind: "approve" }, "ada", undefined],
  ])
  expect(JSON.parse((await run(...words, "--json")).stdout)).toMatchObject({ ok: false })
  expect(await run("approvals", "show", "0198-gone")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Nothing waits with the id '0198-gone'") as string,
  })
  expect(JSON.parse((await run("approvals", "show", "0198-gone", "--json")).stdout)).toMatchObject({
    error: "nothing_waits",
  })
})

test.each([
  [["approve", "01", "--remember", "always"], "--remember takes one of input-session, tool-session, task, minutes,"],
  [["approve", "01", "--remember", "minutes:0"], "--remember minutes:<number> takes 1 to 480"],
  [["approve", "01", "--remember", "minutes:481"], "--remember minutes:<number> takes 1 to 480"],
  [["reject", "01", "--remember", "minutes:1h"], "--remember minutes:<number> takes 1 to 480"],
  [["approve", "01", "--revision", "last"], "--revision takes a whole number above 0, and 'last' is none.\n"],
  [["edit", "01", "{oops"], "The new input is not JSON"],
  [["edit", "01"], "The new input is missing."],
  [["approve", ""], "The id is empty. Give the id or its first characters.\n"],
  [["edit", " ", "{}"], "The id is empty."],
  [["show", ""], "The id is empty."],
  [["release", "01", "--redact", "/a", "--replace", "b"], "--redact removes parts and --replace replaces"],
])("%j is wrong usage, and no answer is sent", async (words, stderr) => {
  const { run, received } = cliWithPending([item()])
  const result = await run("approvals", ...words)
  expect(result).toMatchObject({ code: 2, stdout: "" })
  expect(result.stderr).toContain(stderr.trimEnd())
  expect(received).toEqual([])
})

test.each(["approve", "edit", "reject", "release", "withhold", "answer"])(
  "'approvals %s' needs an id where there is no terminal, and options need one everywhere",
  async (verb) => {
    const { run, received } = cliWithPending([item()])
    expect(await run("approvals", verb)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("'qm approvals list' shows all ids.") as string,
    })
    expect(await run("approvals", verb, "--revision", "1")).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^--revision goes with an id\./) as string,
    })
    expect(received).toEqual([])
  },
)

test("an edited call is shown again when it waits again", async () => {
  const heard: AnswerResult = { ok: true, done: true, code: "answer_settled", sentence: "It is checked again." }
  const { run, received } = cliWithPending([item(), undefined, item(), item({ revision: 2 })], heard)
  const edited = await run("approvals", "edit", "01", '{"key":"B"}')
  expect(edited).toMatchObject({ code: 0, stderr: "It is checked again.\n" })
  expect(edited.stdout).toMatch(/set_env[^]*approve 0198-call --revision 2\n/)
  expect(received).toEqual([["0198-call", { kind: "edit", input: { key: "B" } }, "ada", 1]])
  const again = cliWithPending([item(), item(), item({ revision: 2 })], heard)
  expect(JSON.parse((await again.run("approvals", "edit", "01", "{}", "--json")).stdout)).toMatchObject({ revision: 2 })
})

test("the edit of a call that nobody waits for is one sentence, and nothing is waited for", async () => {
  const sentence = "It is checked and decided again when its caller comes back for it."
  const { run } = cliWithPending([item()], { ok: true, done: true, code: "answer_edited_later", sentence })
  expect(await run("approvals", "edit", "01", '{"key":"B"}')).toEqual({ code: 0, stdout: `${sentence}\n`, stderr: "" })
})

test("an id prefix that matches several ids lists them, and no answer is sent", async () => {
  const ids = Array.from({ length: 12 }, (_, place) => `0198-${String.fromCharCode(97 + place)}`)
  const received: unknown[] = []
  const approvals: Partial<Approvals> = {
    list: () => Promise.resolve(["0197-x", ...ids].map((callId) => item({ callId }))),
    show: () => Promise.resolve(undefined),
    answer: (...what) => (
      received.push(what),
      Promise.resolve({ ok: true, done: true, code: "answer_settled", sentence: "" })
    ),
  }
  const named = `Several ids begin with '0198': ${ids.slice(0, 10).join(", ")}, …. Give more characters.\n`
  for (const words of [
    ["show", "0198"],
    ["approve", "0198"],
    ["answer", "0198"],
    ["edit", "0198", "{}"],
  ]) {
    expect(await runWithApp({ approvals }, ["approvals", ...words])).toEqual({
      code: 1,
      stdout: "",
      stderr: named,
    })
  }
  const { stdout } = await runWithApp({ approvals }, ["approvals", "show", "0198", "--json"])
  expect(JSON.parse(stdout)).toMatchObject({ error: "ambiguous_id" })
  expect((await runWithApp({ approvals }, ["approvals", "show", "0196"])).stderr).toBe(
    "Nothing waits with the id '0196'. 'qm approvals list' shows what waits.\n",
  )
  expect(received).toEqual([])
})

const form = {
  type: "object",
  properties: {
    name: { type: "string" },
    age: { type: "integer" },
    tags: { type: "array", items: { type: "string", enum: ["a", "b"] } },
  },
}
const onlyName = { type: "object", properties: { name: { type: "string" } } }
const filling = (given: object): PendingItem =>
  item({ kind: "question", question: { question: "?", form: given as never } })
const opening = item({ kind: "question", question: { question: "?", url: "https://example.com" } })

test.each<[string[], PendingItem, unknown]>([
  [
    ["name=Ada Lovelace", "age=36", "tags=a", "tags=b"],
    filling(form),
    { name: "Ada Lovelace", age: 36, tags: ["a", "b"] },
  ],
  [["tags=a", "age:=36"], filling(form), { tags: ["a"], age: 36 }],
  [['{"name":"Ada"}'], filling(form), { name: "Ada" }],
  [["--json", '{"name":"Ada"}'], filling(form), { name: "Ada" }],
  [[], filling(form), {}],
  [["Ada", "Lovelace"], filling(onlyName), { name: "Ada Lovelace" }],
  [["name=Ada"], filling(onlyName), { name: "Ada" }],
  [["a=b"], filling(onlyName), { name: "a=b" }],
  [["{oops"], filling(onlyName), { name: "{oops" }],
  [[], opening, {}],
  [["{}"], opening, {}],
])("%j fills in the form", async (words, asked, value) => {
  const { run, received } = cliWithPending([asked])
  expect(await run("approvals", "answer", "0198", ...words)).toMatchObject({ code: 0 })
  expect(received).toEqual([["0198-call", { kind: "answer", value }, "ada", 1]])
})

test.each<[string[], PendingItem, string]>([
  [["Ada"], filling(form), "'Ada' cannot be read. Give name=value for each field"],
  [["name=Ada", "aeg=3"], filling(form), "The form has no field 'aeg'. It has: name, age, tags. No answer was sent."],
  [["age=old"], filling(form), "'age' takes a whole number, and 'old' is not that."],
  [["tags=a,c"], filling(form), "'c' is not a choice of 'tags': a, b."],
  [["name=a", "name=b"], filling(form), "'name' is given twice. Keep one of them."],
  [["{oops"], filling(form), "'{oops' cannot be read."],
  [["yes"], opening, "This question takes no text. Give only the id to agree, or use 'qm approvals reject'."],
  [[], item({ kind: "question", question: { question: "?" } }), "The answer is missing. Write it after the id."],
])("%j does not fit the question, and no answer is sent", async (words, asked, sentence) => {
  const { run, received } = cliWithPending([asked])
  const { code, stderr } = await run("approvals", "answer", "0198", ...words)
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  expect(received).toEqual([])
})

test.each<[string, PendingItem, string[]]>([
  ["a form", filling(form), ["answer 0198-call name=… age=… tags=…", `answer 0198-call '{"…":"…"}'`]],
  ["a form of one field", filling(onlyName), ["answer 0198-call …"]],
  ["a link", opening, ["answer 0198-call"]],
  [
    "a question with options",
    item({ kind: "question", question: { question: "?", options: ["yes", "no"] } }),
    ["answer 0198-call 1", "answer 0198-call 2"],
  ],
  [
    "a form whose names the shell would run",
    filling({ type: "object", properties: { "$(rm -rf ~)": {}, b: {} } }),
    [`answer 0198-call '{"…":"…"}'`],
  ],
])("the commands that answer %s can be copied", async (_what, asked, commands) => {
  const { stdout } = await cliWithPending([asked]).run("approvals", "show", "0198")
  const shown = stdout.split("\n").filter((line) => line.startsWith("  qm"))
  expect(shown).toEqual([...commands, 'reject 0198-call --reason "…"'].map((command) => `  qm approvals ${command}`))
})

const options = ["red", "dark red", "blue, light", "green"]
test.each<[string[], Question | undefined, string | string[]]>([
  [["dark", "red"], undefined, "dark red"],
  [["red,", "green"], { question: "?", options }, "red, green"],
  [["red", "green"], { question: "?", options, multiple: true }, ["red", "green"]],
  [["red,dark red"], { question: "?", options, multiple: true }, ["red", "dark red"]],
  [["red,", "dark", "red"], { question: "?", options, multiple: true }, ["red", "dark red"]],
  [["blue, light"], { question: "?", options, multiple: true }, ["blue, light"]],
  [["2"], { question: "?", options }, "dark red"],
  [["9"], { question: "?", options }, "9"],
  [["2"], { question: "?", options: ["3", "2", "1"] }, "2"],
  [["1,", "4"], { question: "?", options, multiple: true }, ["red", "green"]],
  [["one", "two,three"], { question: "?", multiple: true }, ["one two", "three"]],
])("the words %j answer the question %j with %j", async (words, question, value) => {
  expect(await readAnswer(words, question)).toEqual(value)
})

test.each([
  ["/a", ["/a"]],
  ["/a/b,/c", ["/a/b", "/c"]],
  ["/a, /c", ["/a", "/c"]],
  ["/a,b", ["/a,b"]],
  ["", [""]],
])("'%s' is the JSON pointers %j", (text, pointers) => expect(splitPointers(text)).toEqual(pointers))

test.each([
  ["null", null],
  ["12", 12],
  ['"12"', "12"],
  ["[1", "[1"],
])("--replace %j becomes %j", (text, value) => expect(readReplacement(text)).toEqual(value))

test("remembered answers are listed by agent and revoked by a person", async () => {
  const { run, received } = cliWithPending([])
  expect((await run("grants", "--agent", "dev", "--all")).stderr).toBe("No answer is remembered.\n")
  expect(received).toEqual([{ agentId: "dev", includeExpired: true }])
  expect(await run("grants", "revoke", "g1")).toMatchObject({
    code: 0,
    stdout: "Revoked: Agent dev may call set_env.\n",
  })
  expect(await run("grants", "revoke", "g")).toMatchObject({ code: 1, stdout: "" })
  expect(await run("grants", "revoke", "")).toMatchObject({ code: 2, stdout: "" })
})

test("--rule approves and adds the offered rule, only for the user of this machine and never inside a tool", async () => {
  const received: unknown[] = []
  const offered = { allow: "run_command", agent: "dev", touching: ["command:ls"], words: "Agent dev may call ls." }
  const waiting = item({ rule: offered, remember: [] })
  const approvals = {
    list: () => Promise.resolve([waiting]),
    show: () => Promise.resolve(waiting),
    answer: () => Promise.reject(new Error("It must not be a plain answer.")),
    approveWithRule: (callId: string, given: object) => (
      received.push([callId, given]),
      Promise.resolve({ ok: true as const, done: true, code: "answer_settled" as const, sentence: "Answered." })
    ),
  }
  const run = (words: string[], env = {}) => runWithApp({ approvals }, ["approvals", ...words], { env })
  expect((await run(["show", "01"])).stdout).toContain("qm approvals approve 0198-call --rule 8h")
  expect((await run(["show", "01"])).stdout).toContain(
    "instead of a yes each time, the user of this machine can add a rule: Agent dev may call ls. (qm",
  )
  const before = Date.now()
  for (const [words, env, code] of [
    [["--as", "ann"], {}, 3],
    [[], { QM_INSIDE: "1" }, 3],
    [["--remember", "task"], {}, 2],
  ] as const) {
    expect(await run(["approve", "01", "--rule", "8h", ...words], env)).toMatchObject({ code })
  }
  expect(await run(["approve", "01", "--rule", "often"])).toMatchObject({ code: 2 })
  expect(received).toEqual([])
  expect(await run(["approve", "01", "--rule", "8h"])).toMatchObject({
    code: 0,
    stdout: "set_env of dev (A): Answered.\n",
  })
  const [[callId, { by, expiresAt, revision }]] = received as [[string, Record<string, number>]]
  expect([callId, by, revision]).toEqual(["0198-call", "ada", 1])
  expect(expiresAt! - before).toBeGreaterThanOrEqual(8 * 3_600_000)
})
