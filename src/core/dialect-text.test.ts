import fc from "fast-check"
import { expect, test } from "vitest"
import { failure } from "./ending.ts"
import { toolRef, renderDialectText, dialectText, ifParameter, type DialectNames } from "./dialect-text.ts"

const names: DialectNames = new Map([
  ["read_file", "Read"],
  ["read_file path", "file_path"],
  ["read_file tail", null],
])

test("names are ours, or those of a dialect where it has them", () => {
  const sentence = dialectText`Call ${toolRef("read_file")} with ${toolRef("read_file", "path")}, or ${toolRef("list_files")}.`
  expect(renderDialectText(sentence)).toBe("Call read_file with path, or list_files.")
  expect(renderDialectText(sentence, names)).toBe("Call Read with file_path, or list_files.")
})

test("words about a parameter are left out where there is none", () => {
  const orTail = ifParameter("read_file", "tail", dialectText` or with ${toolRef("read_file", "tail")}`)
  const sentence = dialectText`Read ${2} lines${orTail}${ifParameter("read_file", "path", dialectText`, of a path`)}.`
  expect(renderDialectText(sentence)).toBe("Read 2 lines or with tail, of a path.")
  expect(renderDialectText(sentence, names)).toBe("Read 2 lines, of a path.")
})

test("a sentence stands in a sentence, and is the same after it was stored", () => {
  const outer = dialectText`It failed: ${dialectText`ask ${toolRef("read_file")}`}.`
  expect(renderDialectText(JSON.parse(JSON.stringify(outer)) as typeof outer, names)).toBe("It failed: ask Read.")
})

test("a failure's message is in our names; its sentence is kept beside it", () => {
  const error = failure(dialectText`Call ${toolRef("read_file")}.`)
  expect([error.message, renderDialectText(error.said ?? "", names)]).toEqual(["Call read_file.", "Call Read."])
  expect(failure("Call read_file.").said).toBeUndefined()
})

test("law: a text stays as it is, whatever stands in it", () => {
  const text = fc.array(fc.constantFrom("read_file", "${name('read_file')}", "{read_file}", " ", "'", "tail", "\n"))
  fc.assert(
    fc.property(text, (parts) => {
      const given = parts.join("")
      expect(renderDialectText(dialectText`${toolRef("read_file")}: ${given}`, names)).toBe(`Read: ${given}`)
    }),
  )
})
