import fc from "fast-check"
import { expect, test } from "vitest"
import type { McpToolDefinition } from "../core/mcp.ts"
import { definition } from "../testing/mcp/toolbox.ts"
import { pinHash, type ServerPins } from "./pins.ts"
import { inspectTools, toMcpPin, toolStatuses } from "./tool-status.ts"

const text = fc.string({ unit: fc.constantFrom("a", "b", "é", " ", "1"), maxLength: 12 })
const node = (properties: fc.Arbitrary<Record<string, unknown>>) =>
  fc.record(
    {
      type: fc.constantFrom("string", "object"),
      description: text,
      enum: fc.array(text, { maxLength: 2 }),
      properties,
    },
    { requiredKeys: ["type"] },
  )
const schema = node(fc.dictionary(text, node(fc.constant({})), { maxKeys: 2 })) as fc.Arbitrary<Record<string, unknown>>
const tool: fc.Arbitrary<McpToolDefinition> = fc.record(
  {
    name: text.map((name) => `t${name}`),
    title: text,
    description: text,
    inputSchema: schema.map((node) => ({ ...node, type: "object" })),
    outputSchema: schema,
    annotations: fc.dictionary(text, fc.oneof(fc.boolean(), text), { maxKeys: 2 }),
  },
  { requiredKeys: ["name", "inputSchema"] },
)

const pinned = (tools: readonly McpToolDefinition[]): ServerPins => ({
  tools: new Map(
    tools.map((one) => [one.name, { definition: one, hash: pinHash(one), warnings: [], by: "ann", at: 1 }]),
  ),
  parts: { resources: false, prompts: false, completions: false },
  change: 1,
})

/** Every text and every name in a value, each with one more character. */
function* changed(value: unknown): Generator {
  if (typeof value === "string") yield `${value}!`
  if (typeof value === "boolean") yield !value
  if (Array.isArray(value)) {
    yield [...value, "!"]
    for (const [index, part] of value.entries()) {
      for (const other of changed(part)) yield value.map((one, at) => (at === index ? other : one))
    }
  } else if (typeof value === "object" && value !== null) {
    yield { ...value, "one more": 1 }
    for (const [key, part] of Object.entries(value)) {
      const { [key]: _, ...rest } = value as Record<string, unknown>
      yield { ...rest, [`${key}!`]: part }
      for (const other of changed(part)) yield { ...value, [key]: other }
    }
  }
}

test("a tool that is as it was pinned can be used, whatever the order of its fields", () => {
  fc.assert(
    fc.property(tool, (one) => {
      const turned = JSON.parse(JSON.stringify(one), (_key, part: unknown) =>
        typeof part === "object" && part !== null && !Array.isArray(part)
          ? Object.fromEntries(Object.entries(part).toReversed())
          : part,
      ) as McpToolDefinition
      expect(toolStatuses("box", inspectTools("box", [turned]), pinned([one]))).toMatchObject([
        { state: "pinned", quarantine: undefined },
      ])
    }),
    { numRuns: 200 },
  )
})

test("a single change anywhere in a definition always quarantines it", () => {
  fc.assert(
    fc.property(tool, fc.nat(), (one, seed) => {
      const { name, ...rest } = one
      const others = Object.entries(rest).flatMap(([field, value]) =>
        [...changed(value)].map((other) => ({ field, seen: { ...one, [field]: other } as McpToolDefinition })),
      )
      // Each run checks some of them, from a random start.
      for (let index = 0; index < 12; index++) {
        const { field, seen } = others[(seed + index * 7) % others.length]!
        if (seen.inputSchema["type"] !== "object") continue
        const [status] = toolStatuses("box", inspectTools("box", [seen]), pinned([one]))
        expect([status?.state, status?.quarantine?.includes(field)]).toEqual(["changed", true])
      }
      const renamed = toolStatuses("box", inspectTools("box", [{ ...one, name: `${name}!` }]), pinned([one]))
      expect(renamed.map(({ state }) => state).sort()).toEqual(["gone", "new"])
      expect(renamed.every(({ quarantine, leftOut }) => (quarantine ?? leftOut) !== undefined)).toBe(true)
    }),
    { numRuns: 100 },
  )
})

test("a removed or added title is a change too", () => {
  const [titled, plain] = [definition("t", { title: "T" }), definition("t")]
  for (const [was, is] of [
    [titled, plain],
    [plain, titled],
  ] as const) {
    expect(toolStatuses("box", inspectTools("box", [is]), pinned([was]))).toMatchObject([{ state: "changed" }])
  }
})

test("pinned tools count as unchanged before the server is connected; icons are not pinned", () => {
  const one = definition("t")
  expect(toolStatuses("box", undefined, pinned([one]))).toMatchObject([{ state: "pinned", quarantine: undefined }])
  const iconed = { ...one, icons: [{ src: "https://example.com/i.png" }] }
  expect(toolStatuses("box", inspectTools("box", [iconed]), pinned([one]))).toMatchObject([{ state: "pinned" }])
})

test("a pin shows what is trusted and what is offered instead", () => {
  const [was, is] = [definition("t"), definition("t", { description: "Other." })]
  const [status] = toolStatuses("box", inspectTools("box", [is]), pinned([was]))
  expect(toMcpPin("box", status!)).toEqual({
    server: "box",
    tool: "t",
    state: "changed",
    hash: pinHash(was),
    definition: was,
    seenHash: pinHash(is),
    seen: is,
    warnings: [],
    by: "ann",
    at: 1,
  })
})
