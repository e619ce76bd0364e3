import fc from "fast-check"
import { expect, test } from "vitest"
import type { ApprovalRequest, Question } from "../../core/approval.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { openTestApp, tool } from "../../testing/test-app.ts"
import { paintHost, readLinkAddress } from "./link-address.ts"
import { callbackAdapter } from "./callback.ts"
import { cardLines } from "./card.ts"
import { interpretReply, readReply, allowedReplies } from "./reply.ts"
import { terminalAdapter, terminalAsk } from "./terminal.ts"
import { agentText, approvalRequest, samplePendingItem, fakeTerminal, hiddenCharactersIn } from "./testing.ts"
import type { TerminalStyle } from "../../lib/terminal-style.ts"

const form: JsonSchema = {
  type: "object",
  properties: {
    name: { type: "string", title: "Your name", description: "As in your passport.", minLength: 2 },
    age: { type: "integer", minimum: 0, maximum: 150 },
    colour: {
      type: "string",
      oneOf: [
        { const: "r", title: "Red" },
        { const: "b", title: "Blue" },
      ],
      default: "b",
    },
    tags: { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, maxItems: 2 },
    sure: { type: "boolean" },
  },
  required: ["name"],
}
const asking: Question = { question: "Who are you?", form }
const link: Question = { question: "Sign in.", url: "https://ada@login.example.com/start?a=1" }
const asked = (question: Question) => samplePendingItem({ kind: "question", question })
const [enter, down, space, escape] = ["\r", "\u001b[B", " ", "\u001b"]
const menu = "escape no\n> "

const marked: TerminalStyle = {
  dim: String,
  green: String,
  red: String,
  cyan: String,
  bold: (text) => `<b>${text}</b>`,
  yellow: (text) => `<y>${text}</y>`,
}

test("a card shows every field of a form: what it takes, its choices, its default and whether it is needed", () => {
  const lines = cardLines(asked(asking), { now: 0 })
  expect(lines.slice(lines.indexOf("question, 12 characters:"), -1)).toEqual([
    "question, 12 characters:",
    "│ Who are you?",
    "fields of the form, 5:",
    "│ name: text, at least 2 characters, required",
    "│     Your name",
    "│     As in your passport.",
    "│ age: a whole number, from 0 to 150",
    "│ colour: one of the choices",
    "│     1. Red (r)",
    "│     2. Blue (b)",
    "│     Blue (b) when left empty",
    "│ tags: some of the choices, at most 2",
    "│     1. a",
    "│     2. b",
    "│     3. c",
    "│ sure: yes or no",
    "What is filled in goes to the tool that asks. Give no passwords and no keys here.",
  ])
})

test("a card shows the first twenty fields and twelve choices, says how many there are, and all of them when asked", () => {
  const choices = Array.from({ length: 15 }, (_, place) => `choice${place}`)
  const properties = Object.fromEntries(choices.map((name) => [name, { type: "string", enum: choices }]))
  const many = {
    type: "object",
    properties: { ...properties, ...Object.fromEntries(choices.map((n) => [`x${n}`, {}])) },
  }
  const short = cardLines(asked({ question: "?", form: many })).join("\n")
  expect(short).toContain("fields of the form, 30:")
  expect(short).toContain("… 10 more: only in the whole view.")
  expect(short).toContain("│     … 3 more")
  const whole = cardLines(asked({ question: "?", form: many }), { whole: true }).join("\n")
  expect(whole).toContain("xchoice14")
  expect(whole).not.toMatch(/… \d+ more/)
})

test("no text of a field can pass for another field", () => {
  const forged = "harmless\npassword: text, required"
  const field = { type: "string", title: forged, description: forged, default: forged, enum: [forged, "b"] }
  const lines = cardLines(asked({ question: "?", form: { type: "object", properties: { [forged]: field } } }))
  expect(lines.filter((line) => line.startsWith("│ password"))).toEqual([])
  expect(lines.filter((line) => line.includes("\\u{a}password: text"))).toHaveLength(4)
})

test("a card shows where a link leads, and that it is not proved safe", () => {
  const lines = cardLines(asked(link), { paint: marked })
  expect(lines).toContain("│ https://ada@<b>login.example.com</b>/start?a=1")
  expect(lines).toContain("<b>it leads to: login.example.com</b>")
  const warning = lines.filter((line) => line.startsWith("<y>")).join(" ")
  expect(warning).toContain("What stands before the @ is not where it leads")
  expect(warning.replaceAll(/(<\/?y>|\s)+/g, " ")).toContain("A link from an agent's server is not proved safe.")
})

test.each([
  ["https://example.com/a", "example.com", []],
  ["https://EXAMPLE.com:8443/", "example.com:8443", []],
  ["http://example.com", "example.com", ["It is not encrypted (http)."]],
  ["https://bank.example@evil.example/", "evil.example", ["before the @"]],
  ["https://bank.example\\@evil.example/", "bank.example", []],
  ["https://pаypal.example/", "xn--pypal-4ve.example", ["foreign letters"]],
  ["javascript:alert(1)", "", ["'javascript'"]],
  ["file:///etc/passwd", "", ["'file'"]],
  ["not an address", "", ["cannot be read"]],
  ["", "", ["cannot be read"]],
])("%j leads to %j", (text, host, warnings) => {
  const address = readLinkAddress(text)
  expect(address.host).toBe(host)
  expect(address.warnings).toEqual(warnings.map((part) => expect.stringContaining(part) as string))
})

test("a host is painted behind everything that only looks like one, and not at all where it is spelled otherwise", () => {
  const painted = (text: string) => paintHost(text, marked.bold)(text)
  expect(painted("https://a.example@b.example@evil.example/")).toBe("https://a.example@b.example@<b>evil.example</b>/")
  expect(painted("https://Evil.example")).toBe("https://<b>Evil.example</b>")
  expect(painted("https://еvil.example")).toBe("https://еvil.example")
})

test("painting a host changes nothing of an address, and paints only where it leads", () => {
  const part = fc.constantFrom(
    "https://",
    "http:",
    "//",
    "@",
    "a.example",
    "B.example",
    "\\",
    "/",
    "?",
    "#",
    ":443",
    ":",
    "\t",
    "%2e",
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 7 }), (parts) => {
      const text = parts.join("")
      const painted = paintHost(text, marked.bold)(text)
      expect(painted.replaceAll(/<\/?b>/g, "")).toBe(text)
      const [, bold] = /<b>(.*)<\/b>/.exec(painted) ?? []
      if (bold !== undefined) expect(bold.toLowerCase()).toBe(new URL(text).host)
    }),
    { numRuns: 1000 },
  )
})

test("no text of a form or a link can pass for a line of ours or hide anything", () => {
  const field = fc.record({
    type: fc.constantFrom("string", "integer", "array", "odd"),
    title: agentText,
    description: agentText,
    default: agentText,
    enum: fc.array(agentText, { maxLength: 3 }),
  })
  const question = fc.record({
    question: agentText,
    form: fc.record({ type: fc.constant("object"), properties: fc.dictionary(agentText, field, { maxKeys: 3 }) }),
    url: fc.oneof(
      agentText,
      agentText.map((text) => `https://${text}`),
    ),
  })
  const ours =
    /^(Low risk: ann asks$|ann|question,|fields of|What is|address|it leads|options|It |Open it|A link|│| {4}|…)/
  fc.assert(
    fc.property(question, fc.boolean(), (given, whole) => {
      const lines = cardLines(asked(given), { whole, columns: 60, now: 0 })
      expect(hiddenCharactersIn(lines.join(""))).toEqual([])
      expect(
        lines.filter(
          (line) => !ours.test(line) && !line.includes("stands before the @") && !line.startsWith("The host has"),
        ),
      ).toEqual([])
      expect(lines.filter((line) => line.startsWith("because:"))).toEqual([])
    }),
    { numRuns: 200 },
  )
})

/** Keys count only below the card, where the same words may come again. */
const endOfCard = "Give no passwords"

function askIn(fake: ReturnType<typeof fakeTerminal>, question: Question, more: Partial<ApprovalRequest> = {}) {
  return terminalAdapter(fake.terminal).showQuestion!(question, approvalRequest(more))
}

async function play({ appears, press }: ReturnType<typeof fakeTerminal>, steps: readonly (readonly string[])[]) {
  for (const [text = "", ...keys] of steps) {
    await appears(text)
    await press(...keys)
  }
}

test.concurrent("a terminal asks for a form field by field, shows what it sends, and sends it", async () => {
  const fake = fakeTerminal()
  const decision = askIn(fake, asking)
  await play(fake, [
    ["fields of the form, 5:"],
    ["Your name (As in your passport.): text, at least 2 characters", `A${enter}`],
    ["Parameter 'name' must NOT have fewer than 2", "d", "a", enter],
    ["age: a whole number, from 0 to 150; may be left empty", `x${enter}`],
    ["'age' takes a whole number", "\u0015", `36${enter}`],
    ["colour: one of the choices; Blue (b) when left empty"],
    ["● Blue (b)", enter],
    ["tags: some of the choices, at most 2; may be left empty", space, down, space, enter],
    ["sure: yes or no; may be left empty"],
    ["● yes", down],
    ["● no", enter],
    ['│ name: Ada\n│ age: 36\n│ colour: b\n│ tags: ["a","b"]\n│ sure: no\n'],
    [menu, `a${enter}`],
  ])
  expect(await decision).toEqual({
    answer: { name: "Ada", age: 36, colour: "b", tags: ["a", "b"], sure: false },
  })
})

test.concurrent("in a terminal too many choices are asked for again, and what is left empty is left out", async () => {
  const fake = fakeTerminal()
  const two: Question = {
    question: "?",
    form: { type: "object", properties: { tags: tagsOf(form), note: { type: "string" } } },
  }
  const decision = askIn(fake, two)
  await play(fake, [
    [endOfCard],
    ["tags: some", space, down, space, down, space, enter],
    ["Parameter 'tags' must NOT have more than 2 items"],
    ["tags: some", enter],
    ["note: text", enter],
    [menu, `a${enter}`],
  ])
  expect(await decision).toEqual({ answer: {} })
})

test.concurrent("a form in a terminal can be gone through again, rejected with a reason, or closed", async () => {
  const fake = fakeTerminal()
  const only: Question = {
    question: "?",
    form: { type: "object", properties: { who: { type: "string" } }, required: ["who"] },
  }
  const decisions = [1, 2, 3, 4].map(() => askIn(fake, only))
  await play(fake, [
    [endOfCard],
    ["who: text", `Ada${enter}`],
    [menu, `e${enter}`],
    ["who: text", `!${enter}`],
    ["│ who: Ada!"],
    [menu, `a${enter}`],
  ])
  await play(fake, [
    [endOfCard],
    ["who: text", enter],
    ["This field is required.", `Bob${enter}`],
    [menu, `r${enter}`],
    ["Why not?", `private${enter}`],
  ])
  await play(fake, [[endOfCard], ["who: text", `Eve${enter}`], [menu, escape]])
  await play(fake, [[endOfCard], ["who: text", "\u0003"]])
  const closed = { rejectReason: "the question was closed without an answer" }
  expect(await Promise.all(decisions)).toEqual([
    { answer: { who: "Ada!" } },
    { rejectReason: "private" },
    closed,
    closed,
  ])
})

test.concurrent("a terminal shows a link and asks whether to go there; it opens nothing", async () => {
  const fake = fakeTerminal()
  const decisions = [askIn(fake, link), askIn(fake, link), askIn(fake, link)]
  await play(fake, [["it leads to: login.example.com"], ["not proved safe"], [menu, `a${enter}`]])
  await play(fake, [
    [menu, `r${enter}`],
    ["Why not?", enter],
  ])
  await play(fake, [[menu, escape]])
  expect(await Promise.all(decisions)).toEqual([
    { answer: {} },
    { rejectReason: "Operation cancelled by user" },
    { rejectReason: "the question was closed without an answer" },
  ])
})

test.concurrent("terminalAsk returns the fields of a form, or throws why not", async () => {
  const fake = fakeTerminal()
  const { signal } = approvalRequest()
  const only = { question: "?", form: { type: "object", properties: { who: { type: "string" } } }, signal }
  const answers = [terminalAsk(fake.terminal)(only), terminalAsk(fake.terminal)(only)]
  const settled = Promise.allSettled(answers)
  await play(fake, [["fields of the form, 1:"], [endOfCard], ["who: text", `Ada${enter}`], [menu, `a${enter}`]])
  await play(fake, [[endOfCard], ["who: text", `Eve${enter}`], [menu, `r${enter}`], ["Why not?", `no${enter}`]])
  expect(await settled).toEqual([
    { status: "fulfilled", value: { who: "Ada" } },
    { status: "rejected", reason: new Error("no") },
  ])
})

function tagsOf({ properties }: JsonSchema): JsonSchema {
  return (properties as Record<string, JsonSchema>)["tags"]!
}

const oneChoice = { type: "object", properties: { colour: { type: "string", enum: ["red", "blue"] } } }
const oneText = { type: "object", properties: { note: { type: "string" } } }

test.each<[string, Question, unknown]>([
  ["answer CODE name=Ada Lovelace\nage=36\ntags=a, 3", asking, { name: "Ada Lovelace", age: 36, tags: ["a", "c"] }],
  ["answer CODE\nname=Ada\ncolour=Red\nsure=yes", asking, { name: "Ada", colour: "r", sure: true }],
  ['answer CODE {"name": "Ada",\n "age": 36}', asking, { name: "Ada", age: 36 }],
  ['answer CODE name=Ada\ntags:=["b"]', asking, { name: "Ada", tags: ["b"] }],
  ["answer CODE 2", { question: "?", form: oneChoice }, { colour: "blue" }],
  ["answer CODE colour=red", { question: "?", form: oneChoice }, { colour: "red" }],
  ["answer CODE two\nlines", { question: "?", form: oneText }, { note: "two\nlines" }],
  ["answer CODE a=b", { question: "?", form: oneText }, { note: "a=b" }],
  ["answer CODE {}", { question: "?", form: oneText }, {}],
  ["answer CODE agree", link, {}],
])("in a chat %j fills in a form", (reply, question, value) => {
  expect(interpretReply(readReply(reply)!, asked(question))).toEqual({ kind: "answer", value })
})

test.each<[string, Question, string]>([
  ["answer CODE Ada", asking, "'Ada' cannot be read."],
  ["answer CODE name=Ada\nnmae=Ada", asking, "The form has no field 'nmae'."],
  ["answer CODE age=36", asking, "Missing required parameter: name"],
  ["answer CODE name=Ada\nage=old", asking, "'age' takes a whole number"],
  ["answer CODE name=Ada\nname=Eve", asking, "'name' is given twice."],
  ["answer CODE name=Ada\ntags=a,b,c", asking, "tags"],
  ["answer CODE name=Ada\ntags:=[", asking, "not JSON"],
  ["answer CODE name=Ada\n__proto__=1", asking, "The form has no field '__proto__'."],
  ["answer CODE 3", { question: "?", form: oneChoice }, "'3' is not a choice of 'colour': red, blue."],
])("in a chat %j answers nothing, and a sentence says why", (reply, question, sentence) => {
  const meaning = interpretReply(readReply(reply)!, asked(question))
  expect(meaning).toEqual({ sentence: expect.stringContaining(sentence) as string })
  expect(meaning).toEqual({ sentence: expect.stringMatching(/Nothing was answered\.$/) as string })
})

test("in a chat nothing but the word agrees to a link, and a card says how a form is answered", () => {
  for (const reply of ["answer CODE", "answer CODE yes", "answer CODE {}", "approve CODE"]) {
    expect(interpretReply(readReply(reply)!, asked(link))).toBeUndefined()
  }
  const why = "reject CODE because <why; the model reads it>"
  expect(allowedReplies(asked(link), "CODE")).toEqual(["answer CODE agree", why, "show CODE"])
  expect(allowedReplies(asked(asking), "CODE")[0]).toMatch(/^answer CODE <name=value, each field on a line of its own/)
  expect(allowedReplies(asked({ question: "?", form: oneText }), "CODE")[0]).toMatch(/^answer CODE <your answer/)
})

test("a function gives the fields of a form as its answer, and the fields alone are no decision", async () => {
  const answers = [{ answer: { name: "Ada" }, by: "ann" }, { name: "Ada" } as never, { rejectReason: "private" }]
  const approvals = callbackAdapter({ onQuestion: () => answers.shift() })
  const system = await openTestApp({}, { approvals })
  const permission = { level: "public" } as const
  const execute = (_input: never, { answer }: { answer?: unknown }) => answer
  system.registry.register(tool({ kind: "interactive", permission, question: () => asking, execute }))
  const call = () => system.call({ agentId: "operator", tool: "probe", input: {} })
  expect(await call()).toMatchObject({ success: true, result: { name: "Ada", colour: "b" } })
  expect(await call()).toMatchObject({ success: false, error: expect.stringContaining("{ answer: { … } }") as string })
  expect(await call()).toMatchObject({ success: false, error: expect.stringContaining("private") as string })
})
