import { expect, test } from "vitest"
import type { DeskReader } from "../model/app.ts"
import type { DeskItem, Heard, Question } from "../model/approval.ts"
import type { Grant } from "../model/rule.ts"
import { readAnswer, readReplacement, splitPointers } from "./sayings.ts"
import { runOver } from "./testing.ts"

const item = (replaced: Partial<DeskItem> = {}): DeskItem => ({
  callId: "0198-call",
  kind: "call",
  agentId: "dev",
  role: "developer",
  spawners: [],
  tool: "set_env",
  description: "",
  level: "moderate",
  input: { key: "A" },
  reasons: [],
  touches: { list: [], proved: true },
  revision: 1,
  votes: [],
  approvers: [],
  remember: [{ scope: "tool-session", words: "Agent dev may call set_env." }],
  sessionId: "s",
  createdAt: Date.now() - 65_000,
  until: Infinity,
  ...replaced,
})

/** A desk of plain data that writes down what it is told; `waiting` is what it shows, one after the other. */
function deskWith(waiting: (DeskItem | undefined)[], heard: Heard = { ok: true, done: true, sentence: "Answered." }) {
  const told: unknown[] = []
  const desk: Partial<DeskReader> = {
    list: ({ agentId } = {}) => (told.push(["list", agentId]), Promise.resolve(waiting.flatMap((each) => each ?? []))),
    show: () => Promise.resolve(waiting.length > 1 ? waiting.shift() : waiting[0]),
    say: (...what) => (told.push(what), Promise.resolve(heard)),
    grants: (filter) => (told.push(filter), Promise.resolve([])),
    revoke: (id) => Promise.resolve(id === "g1" ? ({ id, words: "Agent dev may call set_env." } as Grant) : undefined),
  }
  return { told, run: (...words: string[]) => runOver({ desk }, words) }
}

test("what waits is listed with how long it has waited and until when, and by agent", async () => {
  const until = new Date(2026, 0, 5, 7, 8, 9).getTime()
  const { run, told } = deskWith([item(), item({ callId: "0199-held", kind: "result", until })])
  const { stdout } = await run("approvals", "--agent", "dev")
  expect(stdout.split("\n").map((line) => line.split(/ {2,}/))).toEqual([
    ["ID", "KIND", "AGENT", "TOOL", "WAITS", "UNTIL"],
    ["0198-call", "call", "dev", "set_env", "1m 5s", "-"],
    ["0199-held", "result", "dev", "set_env", "1m 5s", "2026-01-05 07:08:09"],
    [""],
  ])
  expect(told).toEqual([["list", "dev"]])
  expect(await deskWith([]).run("approvals", "list")).toEqual({
    code: 0,
    stdout: "",
    stderr: "Nothing waits for a person.\n",
  })
})

test.each<[DeskItem["kind"], string[]]>([
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
])("a %s is shown whole, with the commands that answer it", async (kind, commands) => {
  const { run } = deskWith([item({ kind })])
  const { stdout } = await run("approvals", "show", "0198")
  expect(stdout.trimEnd().split("\n")).toEqual(["card of 0198-call", "", "Answer with one of:", ...commands])
  expect(JSON.parse((await run("approvals", "show", "0198", "--json")).stdout)).toMatchObject({ kind, revision: 1 })
})

test.each<DeskItem["kind"]>(["call", "result", "question"])(
  "every command that answers a %s which has changed names the revision that is shown",
  async (kind) => {
    const { run } = deskWith([item({ kind, revision: 3 })])
    const { stdout } = await run("approvals", "show", "0198")
    const commands = stdout.split("\n").filter((line) => line.startsWith("  qm"))
    expect(commands.length).toBeGreaterThan(1)
    for (const command of commands) expect(command).toMatch(/^ {2}qm approvals [a-z]+ 0198-call --revision 3( |$)/)
  },
)

test.each([
  ["approve", "call"],
  ["release", "result"],
] as const)("'%s' without a revision does not count for a %s that has changed since", async (verb, kind) => {
  const { run, told } = deskWith([item({ kind, revision: 3 })])
  const refused = await run("approvals", verb, "01")
  expect(refused).toEqual({
    code: 1,
    stdout: "",
    stderr: `What waits as 0198-call has changed and is at revision 3. Look at it with 'qm approvals show 0198-call', then say 'qm approvals ${verb} 0198-call --revision 3'.\n`,
  })
  expect(JSON.parse((await run("approvals", verb, "01", "--json")).stdout)).toMatchObject({ ok: false })
  expect(told).toEqual([])
  expect(await run("approvals", verb, "01", "--revision", "3")).toMatchObject({ code: 0 })
  expect(told).toEqual([["0198-call", { say: verb }, "ada", 3]])
})

test("a no needs no revision, and counts for the one that stands there", async () => {
  const { run, told } = deskWith([item({ revision: 3 })])
  for (const verb of ["reject", "withhold"]) expect(await run("approvals", verb, "01")).toMatchObject({ code: 0 })
  expect(told).toEqual([
    ["0198-call", { say: "reject" }, "ada", 3],
    ["0198-call", { say: "withhold" }, "ada", 3],
  ])
})

test.each<[string[], unknown]>([
  [["approve", "01"], { say: "approve" }],
  [["approve", "01", "--remember", "tool-session"], { say: "approve", remember: "tool-session" }],
  [["reject", "01"], { say: "reject" }],
  [
    ["reject", "01", "--reason", "no", "--remember", "tool-always"],
    { say: "reject", reason: "no", remember: "tool-always" },
  ],
  [["release", "01"], { say: "release" }],
  [["release", "01", "--redact", "/a/b,/c", "--redact", "/d"], { say: "release", redact: ["/a/b", "/c", "/d"] }],
  [["release", "01", "--replace", '{"n":1}'], { say: "release", replace: { n: 1 } }],
  [["release", "01", "--replace", "nothing to see"], { say: "release", replace: "nothing to see" }],
  [["withhold", "01", "--reason", "private"], { say: "withhold", reason: "private" }],
  [["answer", "01", "dark", "red"], { say: "answer", value: "dark red" }],
])("%j is said to the revision that stands there, by the person who says it", async (words, saying) => {
  const { run, told } = deskWith([item()])
  expect(await run("approvals", ...words)).toEqual({ code: 0, stdout: "Answered.\n", stderr: "" })
  await run("approvals", ...words, "--as", "eve", "--revision", "2")
  expect(told).toEqual([
    ["0198-call", saying, "ada", 1],
    ["0198-call", saying, "eve", 2],
  ])
})

test("an answer that did not count exits with 1 and says why; an id that waits no more is asked for by its name", async () => {
  const { run, told } = deskWith([undefined], { ok: false, sentence: "eve has answered already: no." })
  const words = ["approvals", "approve", "0198-gone"]
  expect(await run(...words)).toEqual({ code: 1, stdout: "", stderr: "eve has answered already: no.\n" })
  expect(told).toEqual([
    ["list", undefined],
    ["0198-gone", { say: "approve" }, "ada", undefined],
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
  [["approve", "01", "--remember", "always"], "--remember takes one of input-session, tool-session, tool-always, and"],
  [["approve", "01", "--revision", "last"], "--revision takes a whole number above 0, and 'last' is none.\n"],
  [["edit", "01", "{oops"], "The new input is not JSON"],
  [["approve", ""], "The id is empty. Give it, or a unique beginning of it.\n"],
  [["edit", " ", "{}"], "The id is empty."],
  [["show", ""], "The id is empty."],
  [["release", "01", "--redact", "/a", "--replace", "b"], "--redact takes parts out and --replace puts"],
])("%j is wrong usage, and nothing is said", async (words, stderr) => {
  const { run, told } = deskWith([item()])
  const result = await run("approvals", ...words)
  expect(result).toMatchObject({ code: 2, stdout: "" })
  expect(result.stderr.slice(0, stderr.length)).toBe(stderr)
  expect(told).toEqual([])
})

test("an edited call is shown again once it is back", async () => {
  const heard: Heard = { ok: true, done: true, sentence: "It is checked again." }
  const { run, told } = deskWith([item(), undefined, item(), item({ revision: 2 })], heard)
  const edited = await run("approvals", "edit", "01", '{"key":"B"}')
  expect(edited).toMatchObject({ code: 0, stderr: "It is checked again.\n" })
  expect(edited.stdout).toMatch(/^card of 0198-call\n[^]*approve 0198-call --revision 2\n/)
  expect(told).toEqual([["0198-call", { say: "edit", input: { key: "B" } }, "ada", 1]])
  const again = deskWith([item(), item(), item({ revision: 2 })], heard)
  expect(JSON.parse((await again.run("approvals", "edit", "01", "{}", "--json")).stdout)).toMatchObject({ revision: 2 })
})

test("an id that several begin with is not taken for an unknown one: they are named, and nothing is said", async () => {
  const ids = Array.from({ length: 12 }, (_, place) => `0198-${String.fromCharCode(97 + place)}`)
  const told: unknown[] = []
  const desk: Partial<DeskReader> = {
    list: () => Promise.resolve(["0197-x", ...ids].map((callId) => item({ callId }))),
    show: () => Promise.resolve(undefined),
    say: (...what) => (told.push(what), Promise.resolve({ ok: true, done: true, sentence: "" })),
  }
  const named = `Several ids begin with '0198': ${ids.slice(0, 10).join(", ")}, …. Give more of the one you mean.\n`
  for (const words of [
    ["show", "0198"],
    ["approve", "0198"],
    ["answer", "0198"],
    ["edit", "0198", "{}"],
  ]) {
    expect(await runOver({ desk }, ["approvals", ...words])).toEqual({ code: 1, stdout: "", stderr: named })
  }
  const { stdout } = await runOver({ desk }, ["approvals", "show", "0198", "--json"])
  expect(JSON.parse(stdout)).toMatchObject({ error: "ambiguous_id" })
  expect((await runOver({ desk }, ["approvals", "show", "0196"])).stderr).toBe(
    "Nothing waits with the id '0196'. 'qm approvals list' shows what does.\n",
  )
  expect(told).toEqual([])
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
const filling = (given: object): DeskItem =>
  item({ kind: "question", question: { question: "?", form: given as never } })
const opening = item({ kind: "question", question: { question: "?", url: "https://example.com" } })

test.each<[string[], DeskItem, unknown]>([
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
])("%j fills in what is asked for", async (words, asked, value) => {
  const { run, told } = deskWith([asked])
  expect(await run("approvals", "answer", "0198", ...words)).toMatchObject({ code: 0, stderr: "" })
  expect(told).toEqual([["0198-call", { say: "answer", value }, "ada", 1]])
})

test.each<[string[], DeskItem, string]>([
  [["Ada"], filling(form), "'Ada' cannot be read. Give name=value for each field"],
  [["name=Ada", "aeg=3"], filling(form), "The form has no field 'aeg'. It has: name, age, tags. Nothing was answered."],
  [["age=old"], filling(form), "'age' takes a whole number, and 'old' is not that."],
  [["tags=a,c"], filling(form), "'c' is not a choice of 'tags': a, b."],
  [["name=a", "name=b"], filling(form), "'name' is given twice. Keep one of them."],
  [["{oops"], filling(form), "'{oops' cannot be read."],
  [["yes"], opening, "There is nothing to fill in here. Give the id alone to agree, or reject it."],
  [[], item({ kind: "question", question: { question: "?" } }), "Say what the answer is, behind the id."],
])("%j is wrong for what is asked, and nothing is said", async (words, asked, sentence) => {
  const { run, told } = deskWith([asked])
  const { code, stderr } = await run("approvals", "answer", "0198", ...words)
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  expect(told).toEqual([])
})

test.each<[string, DeskItem, string[]]>([
  ["a form", filling(form), ["answer 0198-call name=… age=… tags=…", `answer 0198-call '{"…":"…"}'`]],
  ["a form of one field", filling(onlyName), ["answer 0198-call …"]],
  ["a link", opening, ["answer 0198-call"]],
  [
    "a form whose names the shell would run",
    filling({ type: "object", properties: { "$(rm -rf ~)": {}, b: {} } }),
    [`answer 0198-call '{"…":"…"}'`],
  ],
])("the commands that answer %s can be copied", async (_what, asked, commands) => {
  const { stdout } = await deskWith([asked]).run("approvals", "show", "0198")
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
  [["one", "two,three"], { question: "?", multiple: true }, ["one two", "three"]],
])("the words %j answer %j with %j", (words, question, value) => expect(readAnswer(words, question)).toEqual(value))

test.each([
  ["/a", ["/a"]],
  ["/a/b,/c", ["/a/b", "/c"]],
  ["/a, /c", ["/a", "/c"]],
  ["/a,b", ["/a,b"]],
  ["", [""]],
])("'%s' names the places %j", (text, pointers) => expect(splitPointers(text)).toEqual(pointers))

test.each([
  ["null", null],
  ["12", 12],
  ['"12"', "12"],
  ["[1", "[1"],
])("%j stands in place of a result as %j", (text, value) => expect(readReplacement(text)).toEqual(value))

test("remembered answers are listed by agent, and forgotten by a person", async () => {
  const { run, told } = deskWith([])
  expect((await run("grants", "--agent", "dev", "--all")).stderr).toBe("No answer is remembered.\n")
  expect(told).toEqual([{ agentId: "dev", includeExpired: true }])
  expect(await run("grants", "revoke", "g1")).toMatchObject({
    code: 0,
    stdout: "This no longer counts: Agent dev may call set_env.\n",
  })
  expect(await run("grants", "revoke", "g")).toMatchObject({ code: 1, stdout: "" })
  expect(await run("grants", "revoke", "")).toMatchObject({ code: 2, stdout: "" })
})
