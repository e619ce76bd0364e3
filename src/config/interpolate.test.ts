import fc from "fast-check"
import { expect, test } from "vitest"
import { interpolate, interpolateText } from "./interpolate.ts"

const env = { A: "alpha", NUMBER: "5000", EMPTY: "", NESTED: "${A}", YES: "true" }

test.each([
  ["${A}", "alpha"],
  ["x${A}y${A}", "xalphayalpha"],
  ["${A:-b}", "alpha"],
  ["${UNSET:-b}", "b"],
  ["${EMPTY:-b}", "b"],
  ["${EMPTY}", ""],
  ["${UNSET:-}", ""],
  ["${A:?must be set}", "alpha"],
  ["$${A}", "${A}"],
  ["$$${A}", "$${A}"],
  ["${NESTED}", "${A}"],
  ["costs $5 {a}", "costs $5 {a}"],
])("%j becomes %j", (given, text) => {
  expect(interpolateText(given, env)).toEqual({ text, problems: [], unset: [] })
})

test.each([
  ["${UNSET}", "The environment variable UNSET is not set. Set it, or write ${UNSET:-default}."],
  ["${UNSET:?Ask Ada for it.}", "The environment variable UNSET is not set. Ask Ada for it."],
  ["${EMPTY:?Ask Ada for it.}", "The environment variable EMPTY is empty. Ask Ada for it."],
  ["${constructor}", "The environment variable constructor is not set."],
  ["${A", "'${A' cannot be read."],
  ["${}", "'${}' cannot be read."],
  ["${1A}", "'${1A}' cannot be read."],
  ["${A:+b}", "'${A:+b}' cannot be read."],
  ["${UNSET:-${A}}", "cannot be read."],
])("%j is a problem that says what to do", (given, sentence) => {
  expect(interpolateText(given, env).problems).toEqual([expect.stringContaining(sentence)])
})

test("a value that is one variable is a number or a boolean where the key is not a text", () => {
  const given = {
    agent: "${NUMBER}",
    tools: { timeout: "${NUMBER}", enabled: ["${NUMBER}"], maxConcurrent: "${NO:-2}" },
  }
  const permissions = { sleep: { dangerous: "${YES}", level: "${A}" } }
  expect(interpolate({ ...given, permissions, tools: { ...given.tools, permissions } }, env)).toMatchObject({
    value: {
      agent: "5000",
      tools: { timeout: 5000, enabled: ["5000"], maxConcurrent: 2, permissions: { sleep: { dangerous: true } } },
    },
    flaws: [],
  })
})

test("a problem carries the path of the value", () => {
  const { flaws } = interpolate({ org: { agents: [{ id: "a", role: "${UNSET}" }] } }, env)
  expect(flaws).toMatchObject([{ path: ["org", "agents", 0, "role"], what: "value" }])
})

test.each([
  ["models", { models: { main: { key: "${UNSET}" } } }],
  ["telemetry", { telemetry: { enabled: "${UNSET}" } }],
  ["mcpServers", { mcpServers: { a: { url: "https://a.example/${UNSET}" } } }],
  ["tools.mcpServers", { tools: { mcpServers: [{ name: "a", command: "${UNSET}" }] } }],
  ["tools.webSearch", { tools: { webSearch: { apiKey: "${EMPTY:?Set it.}" } } }],
])("under %s a variable that is not set is a warning", (_, value) => {
  const { flaws, unset } = interpolate(value, env)
  expect(flaws).toEqual([])
  expect(unset).toMatchObject([{ what: "value", names: [expect.stringMatching(/^(UNSET|EMPTY)$/)] }])
})

test.each([
  ["rules", { rules: [{ deny: "${UNSET}", because: "So." }] }],
  ["org", { org: { agents: [{ id: "${UNSET}", role: "a" }] } }],
  ["server", { server: { host: "${UNSET}" } }],
  ["the rest of tools", { tools: { timeout: "${UNSET}" } }],
  ["notify", { notify: [{ webhook: "${UNSET}" }] }],
  ["a server, with a text that cannot be read", { mcpServers: { a: { url: "${UNSET}${A:+b}" } } }],
])("in %s it stays a problem", (_, value) => {
  const { flaws, unset } = interpolate(value, env)
  expect(flaws.length).toBeGreaterThan(0)
  expect(unset).toEqual([])
})

test("no ${ is ever left unhandled: it is filled in, written as $${, or a problem", () => {
  const pieces = ["${", "$${", "}", "{", "A", "EMPTY", "UNSET", "${A}", "${UNSET:-", ":-", ":?", "b", " ", "$5"]
  const texts = fc.array(fc.constantFrom(...pieces), { maxLength: 12 }).map((parts) => parts.join(""))
  let filled = 0
  fc.assert(
    fc.property(texts, (text) => {
      const marked = text.replaceAll("$${", "\u0001")
      const { text: result, problems } = interpolateText(text, env)
      if (problems.length > 0) return
      if (marked.includes("${")) filled++
      const withoutEscapes = interpolateText(marked, env).text
      expect(withoutEscapes).not.toContain("${")
      expect(result).toBe(withoutEscapes.replaceAll("\u0001", "${"))
    }),
    { numRuns: 2000 },
  )
  expect(filled).toBeGreaterThan(50)
})
