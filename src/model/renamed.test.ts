import fc from "fast-check"
import { expect, test } from "vitest"
import { renamed, type Names } from "./renamed.ts"

const names: Names = {
  run_command: "Bash",
  read_file: "Read",
  list_files: "LS",
  timeoutMs: "timeout",
  "more timeoutMs": "a longer timeout",
  ", or with tail": "",
}

test.each([
  ["run_command was not executed.", "Bash was not executed."],
  ["Call list_files or read_file.", "Call LS or Read."],
  ["(tool run_command is not available)", "(tool Bash is not available)"],
  ["Give it more timeoutMs, or other timeoutMs.", "Give it a longer timeout, or other timeout."],
  ["Read a part of it with offset, or with tail.", "Read a part of it with offset."],
  ["Don't use run_command, it isn't wanted.", "Don't use Bash, it isn't wanted."],
  ["The agents' run_command and the dogs' read_file.", "The agents' Bash and the dogs' Read."],
])("names are other names: %s", (sentence, expected) => {
  expect(renamed(sentence, names)).toBe(expected)
})

test.each([
  "There is no 'read_file'.",
  "It is denied, in 'cat run_command read_file'.",
  'It says "call read_file now".',
  "'it's read_file' stays",
  "The files src/read_file and read_file/x and read_file.ts and -read_file.",
  "tools.permissions.run_command.allowedRoles",
  "my_read_file and read_files and mcp__read_file",
  "read_file(path) is code",
  "The oldText is not in a.ts.\n12: call read_file now\n  and read_file",
  "It was ended.\nIt had printed:\nrun_command\nread_file",
])("what is quoted, or is only a part of something, stays: %s", (sentence) => {
  expect(renamed(sentence, names)).toBe(sentence)
})

test("in the problems of an input, names stand in quotes", () => {
  expect(renamed("Parameter 'timeoutMs' must be less.", names, { quoted: true })).toBe(
    "Parameter 'timeout' must be less.",
  )
})

test("law: a quote stays as it is, whatever stands in it, and what is around it does not", () => {
  const inside = fc.array(fc.constantFrom("read_file", "run_command", " ", "a", "/", ".", "timeoutMs", "-", "(", '"'))
  fc.assert(
    fc.property(inside, (parts) => {
      const quote = `'${parts.join("")}'`
      expect(renamed(`run_command: ${quote}, by read_file.`, names)).toBe(`Bash: ${quote}, by Read.`)
    }),
    { numRuns: 500 },
  )
})
