import fc from "fast-check"
import { expect, test } from "vitest"
import { modelOf } from "../../../agents/testing/played-model.ts"
import { tool } from "../../../testing/test-app.ts"
import { serveAppForTest, sessionHeaders } from "../testing.ts"

/*
 * Every address of the OpenAPI document, with parameters, queries and bodies that are made from it, whole and broken. The
 * server never fails (500) and never hangs; what it refuses is problem+json with a sentence.
 */

const runs = 30
const mostMs = 5000

interface JsonSchema {
  $ref?: string
  type?: string | string[]
  enum?: unknown[]
  const?: unknown
  anyOf?: JsonSchema[]
  oneOf?: JsonSchema[]
  allOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: string[]
  minimum?: number
  maximum?: number
}

interface Operation {
  parameters?: { name: string; in: "path" | "query" | "header"; required?: boolean; schema: JsonSchema }[]
  requestBody?: { content: { "application/json": { schema: JsonSchema } } }
}

interface Document {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, JsonSchema> }
}

const config = {
  org: {
    people: [{ id: "pat", name: "Pat", roles: ["lead"] }],
    departments: [{ id: "lab" }],
    roles: [{ name: "worker", toolGroups: ["test"] }],
    agents: [
      { id: "ada", role: "worker" },
      { id: "bob", role: "worker" },
    ],
  },
}

const odd = fc.constantFrom(
  "", " ", "\0", "..", "../../etc/passwd", "%00", "a".repeat(3000), "\u{1F600}", "\uD800", "__proto__", "constructor", "'; drop table calls; --",
  "1e999", "NaN", "-1", "null", "{}", "*", "\r\nset-cookie: a=b", "<script>", "2026-13-45", String(Number.MAX_SAFE_INTEGER),
) // prettier-ignore

/** Names and ids that there are, so that valid requests reach something. */
const known = fc.constantFrom("ada", "bob", "pat", "lab", "worker", "send", "look", "leak", "test", "root", "s1")

const text = fc.oneof(
  { weight: 4, arbitrary: known },
  { weight: 2, arbitrary: odd },
  { weight: 1, arbitrary: fc.string({ unit: "binary" }) },
)

const broken: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  odd,
  fc.constantFrom(null, true, [], {}, -1, 0, 1e308, 1.5, [[]], { __proto__: null, toString: 1 }),
)

/** Values of a schema, now and then with something else in their place. Nobody waits longer than a moment. */
function valuesOf(schema: JsonSchema, document: Document, name = "", depth = 0): fc.Arbitrary<unknown> {
  const right = rightValues(schema, document, name, depth)
  return fc.oneof({ weight: 12, arbitrary: right }, { weight: 1, arbitrary: name === "wait" ? odd : broken })
}

function rightValues(schema: JsonSchema, document: Document, name: string, depth: number): fc.Arbitrary<unknown> {
  const inner = (each: JsonSchema, key = name) => valuesOf(each, document, key, depth + 1)
  if (schema.$ref !== undefined) return inner(document.components.schemas[schema.$ref.split("/").at(-1)!]!)
  if (schema.const !== undefined) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const choices = schema.anyOf ?? schema.oneOf
  if (choices !== undefined) return fc.oneof(...choices.map((each) => inner(each)))
  if (schema.allOf !== undefined) return inner(schema.allOf[0]!)
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type
  const { minimum = -5, maximum = 5000 } = schema
  switch (type) {
    case "string":
      return text
    case "boolean":
      return fc.boolean()
    case "integer":
      return name === "wait" ? fc.constant(0) : fc.integer({ min: Math.ceil(minimum), max: Math.floor(maximum) })
    case "number":
      return name === "wait" ? fc.constant(0) : fc.double({ min: minimum, max: maximum, noNaN: true })
    case "array":
      return fc.array(depth > 4 ? fc.constant("x") : inner(schema.items ?? {}), { maxLength: 3 })
    case "object": {
      const fields = Object.entries(schema.properties ?? {}).map(([key, each]) => [key, inner(each, key)] as const)
      const requiredKeys = schema.required ?? []
      return fields.length === 0
        ? fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 })
        : fc.record(Object.fromEntries(fields), { requiredKeys })
    }
    default:
      return fc.jsonValue({ maxDepth: 2 })
  }
}

interface Sent {
  path: string
  query: string
  body: string | undefined
}

function requestsFor(
  path: string,
  { parameters = [], requestBody }: Operation,
  document: Document,
): fc.Arbitrary<Sent> {
  const inPath = parameters.filter((each) => each.in === "path")
  const inQuery = parameters.filter((each) => each.in === "query")
  const paths = fc
    .tuple(...inPath.map(() => fc.oneof(text.map(encoded), fc.constantFrom("%", "%ff", "%2f", "a%0d%0ab"))))
    .map((values) => inPath.reduce((whole, { name }, index) => whole.replace(`{${name}}`, values[index]!), path))
  const queries = fc
    .record(Object.fromEntries(inQuery.map(({ name, schema }) => [name, valuesOf(schema, document, name)])), {
      requiredKeys: [],
    })
    .map((given) =>
      Object.entries(given)
        .map(([name, value]) => `${name}=${encoded(typeof value === "string" ? value : JSON.stringify(value))}`)
        .join("&"),
    )
  const schema = requestBody?.content["application/json"].schema
  const bodies: fc.Arbitrary<string | undefined> =
    schema === undefined
      ? fc.constant(undefined)
      : fc.oneof(
          { weight: 12, arbitrary: valuesOf(schema, document).map((value) => JSON.stringify(value)) },
          {
            weight: 2,
            arbitrary: fc.constantFrom("", "{", "[1,", '"', "nul", '{"a":1}}', "\uFEFF{}", "[".repeat(5000)),
          },
        )
  return fc.record({ path: paths, query: queries, body: bodies })
}

const encoded = (value: string) => encodeURIComponent(value.toWellFormed()) || "%20"

test("no request that can be made from the document breaks the server", async () => {
  const says = Array.from({ length: 2000 }, () => ({ say: "Done." }))
  const { app, served, ask } = await serveAppForTest(config as never, {}, { models: { played: modelOf(...says) } })
  app.registry.registerMany([
    tool({ name: "send", effect: "communicate", execute: () => "sent" }),
    tool({ name: "look", effect: "read", execute: () => "seen" }),
    tool({ name: "leak", permission: { requireResultApproval: "always" }, execute: () => ({ key: "s3cret" }) }),
  ])
  const session = await sessionHeaders(app, "me", true)
  const headers = { ...session, "x-quartermaster": "1", "content-type": "application/json" }
  const document = (await (await fetch(`${served.url}/openapi.json`)).json()) as Document
  const wrong: { problem: string; method: string; address: string; body: string | undefined; text: string }[] = []
  let requests = 0
  for (const [path, operations] of Object.entries(document.paths)) {
    if (path === "/v1/events") continue
    for (const [method, operation] of Object.entries(operations)) {
      // Signing out would end the session of this test.
      const sentHeaders = path === "/v1/session" ? { ...headers, cookie: "qm_session=none" } : headers
      await fc.assert(
        fc.asyncProperty(requestsFor(path, operation, document), async (sent) => {
          requests++
          const signal = AbortSignal.timeout(mostMs)
          const address = `${sent.path}${sent.query === "" ? "" : `?${sent.query}`}`
          const reply = await ask({ method: method.toUpperCase(), path: address, headers: sentHeaders, body: sent.body, signal })
            .catch((error: unknown) => ({ status: 599, headers: {} as Record<string, string>, text: String(error) })) // prettier-ignore
          const problem = problemIn(reply)
          if (problem !== undefined)
            wrong.push({ problem, method, address, body: sent.body, text: reply.text.slice(0, 300) })
          await app.thaw({ by: "me" })
        }),
        { numRuns: runs },
      )
    }
  }
  expect(firstOfEach(wrong)).toEqual([])
  expect(requests).toBeGreaterThan(2000)
  const { status } = await ask({ method: "GET", path: "/healthz" })
  expect(status).toBe(200)
}, 600_000)

function problemIn(reply: { status: number; headers: Record<string, unknown>; text: string }): string | undefined {
  if (reply.status >= 500) return `status ${reply.status}`
  if (reply.status < 400) return undefined
  if (reply.headers["content-type"] !== "application/problem+json") return "not problem+json"
  const { status, detail } = JSON.parse(reply.text) as { status: number; detail: unknown }
  if (status !== reply.status) return "another status in the body"
  return typeof detail === "string" && /[.:!?'")-]$/.test(detail.trim()) ? undefined : "no sentence"
}

/** One of each kind, so that a red run shows all there are. */
function firstOfEach(wrong: readonly { problem: string; method: string; address: string; text: string }[]): unknown[] {
  const kinds = new Map(wrong.map((each) => [`${each.method} ${each.problem} ${each.text.slice(0, 150)}`, each]))
  return [...kinds.values()].slice(0, 20)
}
