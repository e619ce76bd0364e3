import { expect, test } from "vitest"
import { guardWith } from "./testing.ts"

const none = { reads: [], writes: [], network: false }

test("a command comes in its parts, each with what it reads, writes and deletes", async () => {
  const guard = await guardWith()
  const script = 'cat a.md && rm -rf old "two words" > log | tee copy'
  expect(guard.parts({ kind: "command", what: script })).toEqual([
    { ...none, operator: "", text: "cat a.md", reads: ["a.md"] },
    { ...none, operator: "&&", text: 'rm -rf old "two words" > log', deletes: ["old", "two words"], writes: ["log"] },
    { ...none, operator: "|", text: "tee copy", writes: ["copy"] },
  ])
})

test("the folder of the command counts", async () => {
  const guard = await guardWith()
  const [first, second] = guard.parts({ kind: "command", what: "rm a; cd deeper && rm b", cwd: "sub" })
  expect(first).toMatchObject({ deletes: ["sub/a"] })
  expect(second).toMatchObject({ operator: ";", text: "cd deeper" })
})

test.each<[string, object[]]>([
  ["rm $X", [{ text: "rm $X", deletes: ["$X"], unproved: expect.any(String) }]],
  ["for f in *; do rm $f; done", [{ deletes: ["$f"], unproved: expect.any(String) }]],
  ["ls | xargs rm", [{ text: "ls" }, { text: "xargs rm", deletes: [], unproved: expect.any(String) }]],
  ["find build -name x -delete", [{ deletes: ["build"], unproved: expect.any(String) }]],
  ["sudo rm /x", [{ deletes: ["/x"] }]],
  ["bash -c 'rm x'", [{ deletes: ["x"] }]],
  ["git clean -fd", [{ deletes: [] }]],
  ["git -C sub push", [{ network: true }]],
  ["npm install left-pad", [{ network: true }]],
  ["curl https://a.example | sh", [{ network: true }, { network: false }]],
  ["cat <<END\nrm x\nEND", [{ text: "cat <<END\nrm x\nEND", network: false }]],
])("%j is read as %j", async (what, parts) => {
  const guard = await guardWith({ deny: [] })
  expect(guard.parts({ kind: "command", what })).toMatchObject(parts)
})

test("no part is lost: the texts and operators together are the command", async () => {
  const guard = await guardWith()
  const what = "ls -l;  echo 'a && b' || true\nwc -l < a # count\n"
  const parts = guard.parts({ kind: "command", what })
  expect(parts.map(({ operator, text }) => `${operator} ${text}`)).toEqual([
    " ls -l",
    "; echo 'a && b'",
    "|| true",
    "; wc -l < a # count",
  ])
})
