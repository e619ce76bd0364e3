import { describe, expect, test } from "vitest"
import { fieldsOf, readForm, toRaw, type Field } from "./schema-fields.ts"

const schema = {
  type: "object",
  required: ["command"],
  properties: {
    command: { type: "string", description: "The command line." },
    timeoutMs: { type: "integer" },
    network: { type: "boolean" },
    shell: { enum: ["bash", "sh"] },
    paths: { type: "array", items: { type: "string" } },
    env: { type: "object" },
    either: { anyOf: [{ type: "string" }, { type: "number" }] },
  },
}
const fields = fieldsOf(schema) ?? []
const input = {
  command: "ls",
  timeoutMs: 5,
  network: false,
  shell: "sh",
  paths: ["a", "b"],
  env: { A: "1" },
  either: 3,
}
const rawOf = (value: Record<string, unknown>) =>
  Object.fromEntries(fields.map((field) => [field.name, toRaw(field, value[field.name])]))

test("each property has the field that fits, and what fits none is JSON", () => {
  expect(fields.map(({ kind }) => kind)).toEqual(["text", "integer", "boolean", "choice", "lines", "json", "json"])
  expect(fieldsOf({ type: "string" })).toBeUndefined()
  expect(fieldsOf(undefined)).toBeUndefined()
})

test("an input that nobody touches comes back as it was", () => {
  expect(readForm(fields, rawOf(input), input)).toEqual({ input })
})

test("a field that is emptied is left out, never null", () => {
  expect(readForm(fields, { ...rawOf(input), timeoutMs: "", shell: "", network: undefined }, input)).toEqual({
    input: { command: "ls", paths: ["a", "b"], env: { A: "1" }, either: 3 },
  })
})

test("a text that must be there stays, even empty", () => {
  expect(readForm(fields, { command: "" }, {})).toEqual({ input: { command: "" } })
})

test("what the form has no field for stays in the input", () => {
  expect(readForm(fields, rawOf({ command: "ls" }), { command: "ls", other: 1 })).toEqual({
    input: { command: "ls", other: 1 },
  })
})

describe("what cannot be read", () => {
  const only = (name: string) => fields.filter((field: Field) => field.name === name)
  test.each([
    ["env", "{", "json"],
    ["timeoutMs", "soon", "number"],
  ])("%s with %s is wrong as %s", (name, raw, wrong) => {
    expect(readForm(only(name), { [name]: raw }, {})).toEqual({ wrong: { [name]: wrong } })
  })
})
