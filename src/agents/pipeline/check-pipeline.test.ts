import { readFileSync } from "node:fs"
import fc from "fast-check"
import { expect, test } from "vitest"
import { z } from "zod"
import { openTestApp, tool } from "../../testing/test-app.ts"
import type { PipelineDefinition } from "./definition.ts"
import { problemText } from "./plan-text.ts"

const rules = [
  { deny: "erase", because: "Nothing is erased here." },
  { deny: "say", args: { "/text": "never*" }, because: "That is not said." },
]

/** An app with two small tools, and what ran. */
async function setUp() {
  const app = await openTestApp({ rules })
  const ran: string[] = []
  app.registry.registerMany([
    tool({
      name: "say",
      input: z.object({ text: z.string(), times: z.number().optional() }) as never,
      execute: ({ text }: { text: string }) => {
        ran.push(text)
        return { text }
      },
    }),
    tool({ name: "erase", execute: () => void ran.push("erase") }),
    tool({ name: "send", effect: "communicate", execute: () => void ran.push("send") }),
  ])
  const open = (yaml: string, input?: Record<string, unknown>) =>
    app.pipeline({ yaml, file: "p.yml" }, { agentId: "operator", input })
  return { app, ran, open }
}

test.each<[string, string, string[]]>([
  ["is no YAML", "steps: [", ["p.yml:1: The [ that opens here is"]],
  ["is a text", "hello", ["p.yml:1: The pipeline cannot be of type string. Write keys with values instead."]],
  ["is empty", "", ["p.yml:1: The pipeline cannot be of type null. Write keys with values instead."]],
  ["has no steps", "steps: []", ["p.yml:1: 'steps' is an empty list. Write at least one."]],
  [
    "has a misspelt key",
    "steps:\n  - id: a\n    tol: say",
    [
      "p.yml:2: 'steps[0].tool' is missing. Add it.",
      "p.yml:3: 'steps[0].tol' is not a key of a pipeline. Did you mean 'tool'?",
    ],
  ],
  [
    "has an id with a space",
    "steps:\n  - { id: a b, tool: say }",
    ["p.yml:2: 'steps[0].id' is not right: an id has 1 to 64 characters, without spaces and #. Correct it."],
  ],
  [
    "has a step named as its input",
    "steps:\n  - { id: input, tool: say }",
    ["p.yml:2: 'steps[0].id' is not right: input is what the pipeline was given; choose another id. Correct it."],
  ],
  [
    "has two steps of one id",
    "steps:\n  - { id: a, tool: say, input: { text: x } }\n  - { id: a, tool: say, input: { text: y } }",
    ["p.yml:3: Two steps have the id 'a'. Give one of them another id."],
  ],
  [
    "refers to a step that is not there",
    "steps:\n  - { id: fetch, tool: say, input: { text: x } }\n  - id: b\n    tool: say\n    input:\n      text: { $from: fech#/text }\n    needs: [c]",
    [
      "p.yml:6: Step 'b' refers to step 'fech', and there is no such step. Did you mean 'fetch'?",
      "p.yml:7: Step 'b' refers to step 'c', and there is no such step. Correct the id, or add the step.",
    ],
  ],
  [
    "has a condition about a step that is not there",
    "steps:\n  - id: b\n    tool: say\n    input: { text: x }\n    when:\n      not: { step: no, is: success }",
    ["p.yml:6: Step 'b' refers to step 'no', and there is no such step. Correct the id, or add the step."],
  ],
  [
    "has a condition in no known form",
    "steps:\n  - id: b\n    tool: say\n    when: { step: a, equals: 1 }",
    [
      "p.yml:4: 'steps[0].when' is not right: it must be one of { step, is }, { $from } with one of equals, contains, above, below, exists, { not }, { all } and { any }. Correct it.",
    ],
  ],
  [
    "refers to something that is no pointer",
    "steps:\n  - id: b\n    tool: say\n    input: { text: { $from: 'b#text' } }",
    ["p.yml:4: 'b#text' is not a reference. Write a step and a JSON pointer, such as fetch#/items/0."],
  ],
  [
    "has a reference with more keys",
    "steps:\n  - id: b\n    tool: say\n    input: { text: { $from: a, or: x } }",
    ['p.yml:4: Write a reference as { $from: "step#/pointer" }'],
  ],
  [
    "takes an input that it does not have",
    "input: { folder: { default: . } }\nsteps:\n  - { id: b, tool: say, input: { text: { $from: input#/foldr } } }",
    ["p.yml:3: Step 'b' takes the input 'foldr', which the pipeline does not have. Did you mean 'folder'?"],
  ],
  [
    "needs an input that was not given",
    "input:\n  folder: { description: Where }\nsteps:\n  - { id: b, tool: say, input: { text: { $from: input#/folder } } }",
    ["p.yml:2: The input 'folder' has no default and was not given. Give it."],
  ],
  [
    "has an output of a step that is not there",
    "steps:\n  - { id: b, tool: say, input: { text: x } }\noutputs: { text: { $from: c } }",
    ["p.yml:3: An output refers to step 'c', and there is no such step. Correct the id, or add the step."],
  ],
  [
    "goes in a circle",
    "steps:\n  - { id: a, tool: say, input: { text: x }, needs: [b] }\n  - { id: b, tool: say, input: { text: { $from: c#/text } } }\n  - { id: c, tool: say, input: { text: x }, when: { step: b, is: failed } }",
    ["p.yml:3: Steps wait for each other in a circle: b → c → b. Take one of these references away."],
  ],
  [
    "has a step that takes its own result",
    "steps:\n  - { id: a, tool: say, input: { text: { $from: a#/text } } }",
    ["p.yml:2: Step 'a' refers to itself. Take that reference away."],
  ],
  [
    "calls a tool that is not there",
    "steps:\n  - id: a\n    tool: saay\n    input: { text: x }",
    [`p.yml:3: Step 'a': Tool "saay" not found. Did you mean "say"?`],
  ],
  [
    "has a wrong input",
    "steps:\n  - id: a\n    tool: say\n    input: { txt: x }",
    [
      "p.yml:4: Step 'a': Missing required parameter: text.",
      "p.yml:4: Step 'a': Unknown parameter 'txt'. Did you mean 'text'?",
    ],
  ],
  [
    "has a wrong input beside a reference",
    "steps:\n  - { id: a, tool: say, input: { text: x } }\n  - id: b\n    tool: say\n    input: { text: { $from: a#/text }, times: many }",
    ["p.yml:5: Step 'b': Parameter 'times' expected number, got string."],
  ],
  [
    "has a fallback with a wrong input",
    "steps:\n  - id: a\n    tool: say\n    input: { text: x }\n    fallback:\n      tool: say\n      input: {}",
    ["p.yml:7: Step 'a', its fallback: Missing required parameter: text."],
  ],
  [
    "has a fallback with nothing",
    "steps:\n  - { id: a, tool: say, input: { text: x }, fallback: {} }",
    ["p.yml:2: 'steps[0].fallback' is not right: it must have a tool with its input, or a value. Correct it."],
  ],
  [
    "is denied by a rule",
    "steps:\n  - { id: a, tool: say, input: { text: x } }\n  - id: b\n    tool: erase\n    needs: [a]",
    ["p.yml:4: Step 'b': it would be denied. "],
  ],
  [
    "is denied for what its input says",
    "steps:\n  - { id: a, tool: say, input: { text: never ever } }",
    ["p.yml:2: Step 'a': it would be denied. "],
  ],
  [
    "is denied for what its input says beside a reference",
    "steps:\n  - { id: a, tool: say, input: { text: 'x' } }\n  - { id: b, tool: say, input: { text: never ever, times: { $from: a#/times } } }",
    ["p.yml:3: Step 'b': it would be denied. "],
  ],
])("a pipeline that %s is refused with its lines, and nothing runs", async (_, yaml, expected) => {
  const { ran, open } = await setUp()
  const result = await open(yaml).run()
  expect(result).toMatchObject({ status: "refused", steps: [], outputs: {} })
  const texts = result.problems.map(problemText)
  expect(texts.map((text, at) => text.slice(0, expected[at]?.length))).toEqual(expected)
  expect(ran).toEqual([])
})

test("problems of all kinds are told at once, in the order of their lines, and none of them twice", async () => {
  const { ran, open } = await setUp()
  const yaml = `nam: sample
input:
  folder: { description: Where }
steps:
  - { id: a, tool: say, input: { text: { $from: b#/text }, times: many } }
  - { id: b, tool: say, input: { text: { $from: a#/text } }, needs: [c] }
  - { id: d, tool: saay, retry: { tmes: 2 } }
  - { id: e, tool: erase }
  - { id: f, tool: say, inptu: { text: x } }
  - { id: g, tool: say, input: { text: { $from: g#/text } } }
outputs: { text: { $from: h } }
`
  const { status, problems } = await open(yaml).run()
  expect(problems.map(problemText)).toEqual([
    "p.yml:1: 'nam' is not a key of a pipeline. Did you mean 'name'?",
    "p.yml:3: The input 'folder' has no default and was not given. Give it.",
    "p.yml:5: Steps wait for each other in a circle: a → b → a. Take one of these references away.",
    "p.yml:5: Step 'a': Parameter 'times' expected number, got string.",
    "p.yml:6: Step 'b' refers to step 'c', and there is no such step. Correct the id, or add the step.",
    "p.yml:7: 'steps[2].retry.times' is missing. Add it.",
    "p.yml:7: 'steps[2].retry.tmes' is not a key of a pipeline. Did you mean 'times'?",
    `p.yml:7: Step 'd': Tool "saay" not found. Did you mean "say"?`,
    expect.stringMatching(/^p\.yml:8: Step 'e': it would be denied\. /),
    "p.yml:9: 'steps[4].inptu' is not a key of a pipeline. Did you mean 'input'?",
    "p.yml:10: Step 'g' refers to itself. Take that reference away.",
    "p.yml:11: An output refers to step 'h', and there is no such step. Correct the id, or add the step.",
  ])
  expect([status, ran]).toEqual(["refused", []])
})

test.each([
  [
    "a step without its id",
    "steps:\n  - { idd: a, tool: say, input: { text: x } }\n  - { id: b, tool: say, input: { text: { $from: a } } }",
    2,
  ],
  [
    "an input that is written wrongly",
    "input: { word: { defalt: x } }\nsteps:\n  - { id: a, tool: say, input: { text: { $from: input#/word } } }",
    1,
  ],
  ["a step that is none", "steps:\n  - hello\n  - { id: b, tool: say, input: { text: x } }", 1],
])("%s makes no problem where it is referred to", async (_, yaml, count) => {
  const { open } = await setUp()
  expect((await open(yaml, {}).check()).problems).toHaveLength(count)
})

test("an input that the pipeline does not have is refused", async () => {
  const { open } = await setUp()
  const yaml = "input: { folder: { default: . } }\nsteps:\n  - { id: b, tool: say, input: { text: x } }"
  const { problems } = await open(yaml, { foldr: "x" }).check()
  expect(problems.map(problemText)).toEqual(["p.yml:1: The pipeline has no input 'foldr'. Did you mean 'folder'?"])
})

test("a pipeline of ten thousand steps is refused", async () => {
  const { app, ran } = await setUp()
  const steps = Array.from({ length: 10_000 }, (_, at) => ({ id: `s${at}`, tool: "say", input: { text: "x" } }))
  const result = await app.pipeline({ steps }, { agentId: "operator" }).run()
  expect(result.problems).toEqual([
    {
      place: "steps",
      kind: "invalid",
      sentence:
        "A pipeline has at most 500 steps, and this one has 10000. Split it, or let one tool do more of the work.",
    },
  ])
  expect(ran).toEqual([])
})

test("a denied step is told apart from a mistake", async () => {
  const { open } = await setUp()
  const { problems } = await open("steps:\n  - { id: a, tool: erase }\n  - { id: b, tool: no }").check()
  expect(problems.map(({ kind, step }) => [kind, step])).toEqual([
    ["denied", "a"],
    ["invalid", "b"],
  ])
})

test("a plan has the waves and the verdict on each step, as far as it is known", async () => {
  const { ran, open } = await setUp()
  const { name, waves, steps, problems } = await open(`
name: sample
input: { word: { default: hello } }
steps:
  - { id: c, tool: send, needs: [b] }
  - { id: a, tool: say, input: { text: { $from: input#/word } } }
  - { id: b, tool: say, input: { text: { $from: a#/text } }, when: { step: a, is: success } }
  - { id: d, tool: read_file, input: { path: { $from: a#/text } } }
`).check()
  expect({ name, waves, problems }).toEqual({ name: "sample", waves: [["a"], ["b", "d"], ["c"]], problems: [] })
  expect(steps.map(({ id, wave, verdict, dependsOn }) => [id, wave, verdict, dependsOn])).toEqual([
    ["a", 1, "allow", undefined],
    ["b", 2, "allow", undefined],
    ["d", 2, "allow", ["a"]],
    ["c", 3, "ask", undefined],
  ])
  expect(ran).toEqual([])
})

test("what was given is judged like a text in the file, and never read as a reference", async () => {
  const { open } = await setUp()
  const yaml = "input: { word: {} }\nsteps:\n  - { id: a, tool: say, input: { text: { $from: input#/word } } }"
  expect((await open(yaml, { word: "never" }).check()).problems).toMatchObject([{ kind: "denied", step: "a" }])
  expect((await open(yaml, { word: { $from: "a" } }).check()).problems).toMatchObject([{ kind: "invalid", step: "a" }])
  expect((await open(yaml, { word: "hello" }).run()).outputs).toEqual({ a: { text: "hello" } })
})

test("what a reference gives is judged when it is known", async () => {
  const { ran, open } = await setUp()
  const pipeline = open(`
steps:
  - { id: a, tool: base64_decode, input: { encoded: bmV2ZXI= } }
  - { id: b, tool: say, input: { text: { $from: a#/decoded } } }
`)
  expect((await pipeline.check()).steps).toMatchObject([{ verdict: "allow" }, { verdict: "allow" }])
  expect((await pipeline.run()).steps).toMatchObject([{ status: "success" }, { status: "refused" }])
  expect(ran).toEqual([])
})

test("the example can be run in any folder; only its last step asks", async () => {
  const { open } = await setUp()
  const yaml = readFileSync(new URL("../../../examples/report.yml", import.meta.url), "utf8")
  const { problems, steps } = await open(yaml).check()
  expect(problems).toEqual([])
  expect(steps.filter(({ verdict }) => verdict !== "allow").map(({ id, verdict }) => [id, verdict])).toEqual([
    ["write", "ask"],
  ])
})

test("law: a pipeline with a circle is refused and runs nothing, whatever else is in it", async () => {
  const { app, ran } = await setUp()
  const graphs = fc.record({
    edges: fc.array(fc.tuple(fc.nat(9), fc.nat(9)), { maxLength: 20 }),
    circle: fc.uniqueArray(fc.nat(9), { minLength: 1, maxLength: 5 }),
  })
  await fc.assert(
    fc.asyncProperty(graphs, async ({ edges, circle }) => {
      const inCircle = circle.map((at, place): [number, number] => [at, circle[(place + 1) % circle.length]!])
      const needs = (at: number) => [
        ...new Set([...edges, ...inCircle].filter(([from]) => from === at).map(([, to]) => `s${to}`)),
      ]
      const definition: PipelineDefinition = {
        steps: Array.from({ length: 10 }, (_, at) => ({
          id: `s${at}`,
          tool: "say",
          input: { text: "x" },
          needs: needs(at),
        })),
      }
      const { status, problems } = await app.pipeline(definition, { agentId: "operator" }).run()
      expect([status, ran]).toEqual(["refused", []])
      const [first] = problems
      const own = /'(s\d)' refers to itself/.exec(first!.sentence)?.[1]
      const named = own === undefined ? /circle: (.+?)\. /.exec(first!.sentence)![1]!.split(" → ") : [own, own]
      for (const [place, id] of named.slice(1).entries()) expect(needs(Number(named[place]!.slice(1)))).toContain(id)
    }),
    { numRuns: 100 },
  )
})
