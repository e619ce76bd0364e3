import { expect, test } from "vitest"
import type { Answer, AnswerResult, PendingItem } from "../../core/approval.ts"
import { until } from "../../testing/test-app.ts"
import { answerQueue, type QueueOptions } from "./queue.ts"
import { fakeTerminal, samplePendingItem, toolResult } from "./testing.ts"

const menu = "escape later\n> "
const escape = "\u001b"
const controlC = "\u0003"
const enter = "\r"
const yes: AnswerResult = { ok: true, done: true, code: "answer_settled", sentence: "Answered." }

const call = (name: string, more: Partial<PendingItem> = {}) =>
  samplePendingItem({ callId: name, agentId: name, ...more })

/** A queue in a fake terminal: what waits can be changed, and what was answered is kept. */
function start(
  waiting: PendingItem[],
  options: Partial<QueueOptions> = {},
  result: (item: PendingItem, answer: Answer) => AnswerResult = () => yes,
) {
  const fake = fakeTerminal()
  const stop = new AbortController()
  const answered: [string, number, Answer][] = []
  let interrupts = 0
  const remove = (name: string) => void waiting.splice(0, Infinity, ...waiting.filter(({ callId }) => callId !== name))
  const end = answerQueue({
    terminal: fake.terminal,
    queue: {
      list: () => Promise.resolve([...waiting]),
      answer(item, answer) {
        answered.push([item.callId, item.revision, answer])
        const before = [...waiting]
        remove(item.callId)
        const given = result(item, answer)
        if (!given.ok) waiting.splice(0, Infinity, ...before)
        return Promise.resolve(given)
      },
    },
    signal: stop.signal,
    onInterrupt() {
      interrupts++
      stop.abort()
    },
    isAttended: () => true,
    once: false,
    ...options,
  })
  return { ...fake, end, answered, waiting, remove, stop: () => stop.abort(), interrupts: () => interrupts }
}

type Step = readonly [text: string, ...keys: string[]]
async function play({ appears, press }: Pick<ReturnType<typeof start>, "appears" | "press">, steps: readonly Step[]) {
  for (const [text, ...keys] of steps) {
    await appears(text)
    await press(...keys)
  }
}

test.concurrent("one that waits is shown, a key answers its revision, and the next that arrives is shown too", async () => {
  const queue = start([call("ann", { revision: 3 })], { idleText: "Nothing waits." })
  await play(queue, [["ann (dev) wants"], [menu, `a${enter}`], ["Answered."], ["Nothing waits."]])
  queue.waiting.push(call("bea", { kind: "result", result: toolResult({ result: "x" }) }))
  await play(queue, [["bea (dev)"], [menu, `a${enter}`], ["Nothing waits."]])
  queue.stop()
  expect(await queue.end).toBe("stopped")
  expect(queue.answered).toEqual([
    ["ann", 3, { kind: "approve" }],
    ["bea", 1, { kind: "release" }],
  ])
})

test.concurrent("several are listed first, a number shows one, and letters answer nothing in the list", async () => {
  const queue = start([
    call("ann"),
    call("bea", { touches: { list: [{ kind: "write", what: "a.md" }], proved: true } }),
    call("cleo"),
  ])
  await play(queue, [
    ['3 wait for a person:\n  1  ann wants to call probe: {"n":1}\n  2  bea wants to call probe: a.md\n  3  cleo'],
    [menu, `a${enter}`],
    ["not one of the choices"],
    [menu, `y${enter}`],
    ["not one of the choices"],
    [menu, `2${enter}`],
    ["2 more wait besides this:"],
    ["bea (dev) wants"],
    [menu, `a${enter}`],
    // Now the next one follows at once.
    ["ann (dev) wants"],
    [menu, controlC],
  ])
  expect(await queue.end).toBe("stopped")
  expect(queue.answered.map(([name]) => name)).toEqual(["bea"])
  expect(queue.interrupts()).toBe(1)
})

test.concurrent("who looks again by itself has the terminal back at once when a card is answered elsewhere", async () => {
  const queue = start([call("ann")], { once: true, looksAgain: true })
  await play(queue, [["ann (dev) wants"], [menu]])
  queue.remove("ann")
  await play(queue, [["It was answered elsewhere"]])
  const at = Date.now()
  expect(await queue.end).toBe("nothing")
  expect(Date.now() - at).toBeLessThan(2000)
})

test.concurrent("a card that is answered elsewhere is closed, and a key meant for it answers nothing else", async () => {
  const queue = start([call("ann")])
  await play(queue, [["ann (dev) wants"], [menu]])
  queue.waiting.push(call("bea"))
  await play(queue, [["Also waits now: bea wants to call probe"], [menu]])
  queue.remove("ann")
  await play(queue, [
    ["It was answered elsewhere", `a${enter}`],
    ["1 waits for a person:\n  1  bea", `a${enter}`],
    [menu, `a${enter}`],
    ["not one of the choices"],
    [menu, enter],
    ["bea (dev) wants", `a${enter}`],
    [menu, `r${enter}`],
    ["Why not?", `no${enter}`],
    ["Answered."],
  ])
  queue.stop()
  await queue.end
  expect(queue.answered).toEqual([["bea", 1, { kind: "reject", reason: "no" }]])
})

test.concurrent("a call that changes while it is shown is shown again, not answered", async () => {
  const queue = start([call("ann")])
  await play(queue, [[menu]])
  queue.waiting[0] = call("ann", { revision: 2, input: { n: 2 } })
  await play(queue, [
    ["It has changed meanwhile", `a${enter}`],
    [menu, enter],
    ["revision 2"],
    [menu, `a${enter}`],
    ["Answered."],
  ])
  queue.stop()
  await queue.end
  expect(queue.answered).toEqual([["ann", 2, { kind: "approve" }]])
})

test.concurrent("an answer that came too late is not sent again by itself", async () => {
  const refused: AnswerResult = { ok: false, sentence: "It has changed since you saw it." }
  const queue = start([call("ann")], {}, ({ revision }) => (revision === 1 ? refused : yes))
  await play(queue, [[menu, `a${enter}`], ["It has changed since you saw it."]])
  queue.waiting[0] = call("ann", { revision: 2 })
  await play(queue, [[menu, enter], ["revision 2"], [menu, `a${enter}`], ["Answered."]])
  queue.stop()
  await queue.end
  expect(queue.answered.map(([, revision]) => revision)).toEqual([1, 2])
})

test.concurrent("escape leaves it for later, and enter shows what was left", async () => {
  const queue = start([call("ann")])
  await play(queue, [
    [menu, escape],
    ["1 is left for later. enter show, escape wait\n> ", "a", "\u007f", enter],
    ["1 waits for a person:"],
    [menu, enter],
    ["ann (dev) wants"],
    [menu, `r${enter}`],
    // Closing the question why leads back: nothing is rejected.
    ["Why not?", escape],
    [menu, `a${enter}`],
    ["Answered."],
  ])
  queue.stop()
  await queue.end
  expect(queue.answered).toEqual([["ann", 1, { kind: "approve" }]])
})

test.concurrent("the list counts what was put off apart from what was not seen yet", async () => {
  const queue = start([call("ann"), call("bea")])
  await play(queue, [
    ["2 wait for a person:"],
    [menu, enter],
    ["ann (dev) wants"],
    [menu, escape],
    ["1 more, 1 put off:"],
  ])
  queue.stop()
  await queue.end
  expect(queue.answered).toEqual([])
})

test.concurrent("what arrives or leaves while the list is open is written below it, and the list is not repeated", async () => {
  const queue = start([call("ann"), call("bea")], { note: "Console: http://here" })
  await play(queue, [
    ["2 wait for a person:"],
    ["Console: http://here · Show which one? 1 to 2, enter the first, escape later\n> "],
  ])
  queue.waiting.push(call("cleo"))
  await play(queue, [["Also waits now, as 3: cleo wants to call probe"], [menu]])
  queue.remove("ann")
  await play(queue, [
    ["No longer waits: ann wants to call probe"],
    [menu, `3${enter}`],
    ["1 more waits besides this:"],
    ["cleo (dev) wants"],
    [menu, `a${enter}`],
  ])
  await queue.appears("Answered.")
  queue.stop()
  await queue.end
  expect(queue.answered).toEqual([["cleo", 1, { kind: "approve" }]])
  expect(queue.seen().match(/wait for a person:/g)).toHaveLength(1)
})

test.concurrent("a number that nothing has is asked for again, and what is chosen after it left is not shown", async () => {
  const queue = start([call("ann"), call("bea")])
  await play(queue, [["2 wait for a person:"], [menu, `7${enter}`], ["7\n"], [menu]])
  queue.remove("ann")
  await play(queue, [
    ["No longer waits: ann"],
    [menu, `1${enter}`],
    ["It was answered elsewhere"],
    ["1 waits for a person:"],
  ])
  queue.stop()
  await queue.end
  expect(queue.seen()).not.toContain("ann (dev) wants")
})

test.concurrent.each(["the menu", "the question why"])("Ctrl-C at %s stops and answers nothing", async (where) => {
  const queue = start([call("ann")])
  await play(
    queue,
    where === "the menu"
      ? [[menu, controlC]]
      : [
          [menu, `r${enter}`],
          ["Why not?", controlC],
        ],
  )
  expect(await queue.end).toBe("stopped")
  expect([queue.answered, queue.interrupts()]).toEqual([[], 1])
})

test.concurrent("keys that still come when the next card appears do not answer it", async () => {
  const queue = start([call("ann")])
  await play(queue, [[menu]])
  queue.waiting.push(call("bea"))
  await play(queue, [
    ["Also waits now"],
    [menu, `a${enter}`],
    ["bea (dev) wants", `a${enter}`, `a${enter}`],
    [menu, escape],
    ["1 is left for later."],
  ])
  queue.stop()
  await queue.end
  expect(queue.answered.map(([name]) => name)).toEqual(["ann"])
})

test.concurrent("an edited call is shown again as its new revision", async () => {
  const queue = start([call("ann")], { once: true }, (item, answer) => {
    if (answer.kind === "edit") queue.waiting.push(call("ann", { revision: item.revision + 1, input: answer.input }))
    return yes
  })
  await play(queue, [
    [menu, `e${enter}`],
    ["The input as JSON", "\u0015", `{"n":2}${enter}`],
    ["revision 2"],
    [menu, `a${enter}`],
  ])
  expect(await queue.end).toBe("accepted")
  expect(queue.answered).toEqual([
    ["ann", 1, { kind: "edit", input: { n: 2 } }],
    ["ann", 2, { kind: "approve" }],
  ])
})

test.concurrent("the rule that a card offers is added by a key only where the person may, for as long as they say", async () => {
  const rule = { words: "Agent ann may call probe." } as PendingItem["rule"]
  const plain = start([call("ann", { rule })], { once: true })
  await play(plain, [[menu, `u${enter}`], ["not one of the choices"], [menu, `a${enter}`]])
  expect([await plain.end, plain.seen().includes("u approve and add the rule")]).toEqual(["accepted", false])

  const added: unknown[] = []
  const waiting = [call("ann", { rule, revision: 2 })]
  const queue = start([], {
    once: true,
    queue: {
      list: () => Promise.resolve(waiting),
      answer: () => expect.fail("The rule was left out."),
      rules: {
        durationProblem: (text) => (text === "8h" ? undefined : "That is no time."),
        approve: ({ callId, revision }, duration) => {
          added.push([callId, revision, duration])
          return Promise.resolve(yes)
        },
      },
    },
  })
  await play(queue, [
    [menu, `u${enter}`],
    ["Agent ann may call probe."],
    ["for how long?", `often${enter}`],
    ["That is no time.", "\u0015", `8h${enter}`],
    ["Answered."],
  ])
  expect([await queue.end, added]).toEqual(["accepted", [["ann", 2, "8h"]]])
})

test.concurrent("a yes that is remembered for minutes asks for how many", async () => {
  const remember = [{ scope: "minutes", words: "For a while." }] as const
  const queue = start([call("ann", { remember })], { once: true })
  await play(queue, [
    [menu, `m${enter}`],
    ["escape back", `1${enter}`],
    ["For how many minutes? (1 to 480)", "\u0015", `481${enter}`],
    ["Give a whole number from 1 to 480.", "\u0015", `90${enter}`],
  ])
  expect(await queue.end).toBe("accepted")
  expect(queue.answered).toEqual([["ann", 1, { kind: "approve", remember: "minutes", minutes: 90 }]])
})

test.concurrent("a question is answered, or rejected with a reason, only when the person wants to", async () => {
  const asks = (name: string) =>
    call(name, { kind: "question", question: { question: "Which?", options: ["red", "blue"] } })
  const queue = start([asks("ann")])
  await play(queue, [[menu, "a", enter], ["Choose one:", `${escape}[B`], ["● blue", enter], ["Answered."]])
  queue.waiting.push(asks("bea"))
  await play(queue, [[menu, `r${enter}`], ["Why not?", `later${enter}`], ["Answered."]])
  queue.stop()
  await queue.end
  expect(queue.answered.map(([, , answer]) => answer)).toEqual([
    { kind: "answer", value: "blue" },
    { kind: "reject", reason: "later" },
  ])
})

test.concurrent.each<[string, PendingItem[], Step[], string]>([
  ["nothing waits", [], [], "nothing"],
  ["the answer counts", [call("ann")], [[menu, `a${enter}`]], "accepted"],
  ["the person leaves the only card", [call("ann")], [[menu, escape]], "left"],
  ["the person leaves the list", [call("ann"), call("bea")], [[menu, escape]], "left"],
  [
    "the person leaves a card of a list, and then the list",
    [call("ann"), call("bea")],
    [[menu, `1${enter}`], ["ann (dev)"], [menu, escape], ["2 wait for a person:"], [menu, escape]],
    "left",
  ],
])("where one answer is wanted, it ends when %s", async (_when, waiting, steps, end) => {
  const queue = start(waiting, { once: true })
  await play(queue, steps)
  expect(await queue.end).toBe(end)
})

test.concurrent("a terminal that goes away ends it, and nothing is answered", async () => {
  const queue = start([call("ann")])
  await play(queue, [[menu]])
  queue.hangUp()
  expect(await queue.end).toBe("stopped")
  expect(queue.answered).toEqual([])
})

test.concurrent("nothing is shown while the terminal belongs to another program", async () => {
  let asked = 0
  const queue = start([call("ann")], { isAttended: () => ++asked > 3 })
  await until(() => asked === 3, "it looks at the terminal")
  expect(queue.raw()).toBe("")
  await play(queue, [[menu, `a${enter}`], ["Answered."]])
  queue.stop()
  expect(await queue.end).toBe("stopped")
})

test.concurrent("what is typed at a card and is no answer is told to who listens; what was not sent comes back when the card closes", async () => {
  const heard: string[] = []
  const kept: string[] = []
  const listener = {
    takeText: (text: string) => (heard.push(text), "It was told."),
    keep: (text: string) => void kept.push(text),
  }
  const queue = start([call("ann")], { listener })
  await queue.appears(menu)
  // The two bytes of one character, in reads of their own.
  for (const byte of Buffer.from("é")) queue.terminal.input.push(Buffer.from([byte]))
  await play(queue, [["> é", enter]])
  await play(queue, [["not one of the choices"], [menu, "caf", "e\u0301", "\u007f", "é!", enter], ["It was told."]])
  await play(queue, [[menu, "\u001b[200~one\r\ntwo\u001b[201~", enter], ["It was told."], [menu, "and then"]])
  await queue.appears("Enter: tell the agent")
  queue.waiting.push(call("bea"))
  await play(queue, [["Also waits now"], ["> and then   Enter: tell the agent"]])
  queue.remove("ann")
  await queue.appears("It was answered elsewhere")
  queue.stop()
  await queue.end
  expect([heard, kept, queue.answered]).toEqual([["café!", "one\ntwo"], ["and then"], []])
})
