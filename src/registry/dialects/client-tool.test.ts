import { expect, test } from "vitest"
import { readFields, writeFields, type LikeOurs } from "./client-tool.ts"
import { clientTool } from "./client-tables.ts"
import { patchDiffs, patchTouches } from "./patch-text.ts"

const bash = clientTool("claude", "Bash") as LikeOurs
const given = { command: "make", description: "Build", timeout: 5, surprise: 1 }

test("an agent's fields get our names, and what has none here is kept apart", () => {
  expect(readFields(bash, given, "/work/sub")).toEqual({
    input: { command: "make", cwd: "/work/sub", otherFields: { surprise: 1 } },
    intent: "Build",
  })
  const read = clientTool("gemini", "read_file") as LikeOurs
  expect(readFields(read, { file_path: "a.txt", start_line: 3 }, "/work")).toEqual({
    input: { path: "/work/a.txt", otherFields: { start_line: 3 } },
  })
})

test.each([
  [
    "a changed field",
    { command: "make test", cwd: "/w", otherFields: { surprise: 1 } },
    { ...given, command: "make test" },
  ],
  ["nothing", { command: "make", cwd: "/w", otherFields: { surprise: 1 } }, given],
  ["a field that the agent does not have", { command: "make", cwd: "/w", env: { A: "1" } }, undefined],
  ["another folder, which the agent cannot be told", { command: "make", cwd: "/else" }, undefined],
  ["a field that is taken away", { cwd: "/w", otherFields: { surprise: 1 } }, undefined],
])("what a person changed goes back as the agent's own input: %s", (_, edited, wanted) => {
  expect(writeFields(bash, edited, given, "/w")).toEqual(wanted)
})

test("every file of a patch is a touch, also where a header is written oddly", () => {
  const patch = [
    "*** Begin Patch",
    "*** Update File: a.txt",
    "*** Move to: ../b.txt",
    "@@",
    "-old",
    "+new",
    " *** Delete File: /etc/passwd",
    "*** End Patch",
  ].join("\r\n")
  expect(patchTouches(patch, "/w").map(({ kind, what }) => [kind, what])).toEqual([
    ["write", "/w/a.txt"],
    ["write", "/b.txt"],
    ["write", "/etc/passwd"],
  ])
  expect(patchDiffs(patch)[0]).toMatchObject({ path: "a.txt", added: 1, removed: 1 })
  for (const broken of ["", "*** Begin Patch\n*** End Patch", "*** Frobnicate: x\n*** Add File: a"])
    expect(() => patchTouches(broken), broken).toThrow()
})

test("a name that every object has is no tool", () => {
  for (const name of ["constructor", "__proto__", "toString"]) expect(clientTool("claude", name)).toBeUndefined()
  expect(clientTool("__proto__", "Bash")).toBeUndefined()
})
