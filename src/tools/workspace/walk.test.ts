import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { ApprovalUIAdapter } from "../../model/approval.ts"
import { open, temporaryFolder } from "../../testing/open.ts"

/** A house over a folder of its own, and what its approver was shown. */
async function house(answer: (shown: string | undefined) => boolean = () => true) {
  const workspace = temporaryFolder()
  const shown: (string | undefined)[] = []
  const approvals: ApprovalUIAdapter = {
    showToolExecutionApproval(_name, _description, _input, _level, request) {
      shown.push(request.preview)
      return Promise.resolve({ approved: answer(request.preview) })
    },
    showToolResultApproval: () => Promise.resolve({ approved: true }),
  }
  const system = await open({ org: { roles: [{ name: "dev" }], agents: [{ id: "ann", role: "dev" }] } }, { workspace, approvals })
  const call = (tool: string, input: unknown) => system.call({ agentId: "ann", tool, input })
  return { workspace, shown, call, system }
} // prettier-ignore

test("reading asks nobody, and what is outside ends as such [S2-34] [S4-87]", async () => {
  const { workspace, shown, call } = await house()
  writeFileSync(join(workspace, "a.txt"), "hello\n")
  expect(await call("read_file", { path: "a.txt" })).toMatchObject({ success: true, result: { content: "hello\n" } })
  expect(await call("get_file_info", { path: "b.txt" })).toMatchObject({ success: true, result: { exists: false } })
  expect(await call("read_file", { path: "b.txt" })).toMatchObject({
    code: "tool_failed",
    error: expect.stringContaining("File not found: b.txt"),
    metadata: { toolCode: "file_not_found" },
  })
  const outside = await call("read_file", { paths: ["a.txt", "/etc/passwd"] })
  expect(outside).toMatchObject({ code: "path_outside_workspace", error: expect.stringContaining("Access denied") })
  expect(shown).toEqual([])
})

test("a change is made when a person has seen its diff and agreed [S2-41]", async () => {
  const { workspace, shown, call } = await house((diff) => !diff!.includes("+never"))
  writeFileSync(join(workspace, "a.txt"), "one\ntwo\n")
  expect(await call("edit_file", { path: "a.txt", oldText: "two", newText: "2" })).toMatchObject({ success: true })
  expect(await call("edit_file", { path: "a.txt", oldText: "2", newText: "never" })).toMatchObject({
    status: "execution_rejected",
  })
  expect(await call("write_file", { path: "b/c.txt", content: "new\n" })).toMatchObject({ success: true })
  expect(shown).toEqual([
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n",
    "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n one\n-2\n+never\n",
    "--- /dev/null\n+++ b/b/c.txt\n@@ -0,0 +1,1 @@\n+new\n",
  ])
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("one\n2\n")
})

test("a file that changes while a person looks at the diff is shown again before it is changed", async () => {
  let path = ""
  let times = 0
  const { workspace, shown, call } = await house(() => {
    if (times++ === 0) writeFileSync(path, "zero\none\n")
    return true
  })
  path = join(workspace, "a.txt")
  writeFileSync(path, "one\n")
  expect(await call("edit_file", { path: "a.txt", oldText: "one", newText: "1" })).toMatchObject({ success: true })
  expect(shown.map((diff) => diff?.split("\n").slice(3))).toEqual([
    ["-one", "+1", ""],
    [" zero", "-one", "+1", ""],
  ])
  expect(readFileSync(path, "utf8")).toBe("zero\n1\n")
})

test("a change of what is sealed is refused without asking, and a preview asks nobody", async () => {
  const { workspace, shown, call } = await house()
  writeFileSync(join(workspace, "a.txt"), "one\n")
  expect(await call("write_file", { path: ".git/hooks/pre-commit", content: "x" })).toMatchObject({ success: false })
  expect(await call("edit_file", { path: "a.txt", oldText: "one", newText: "1", preview: true })).toMatchObject({
    success: true,
    result: { changed: false },
  })
  expect(shown).toEqual([])
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("one\n")
})

test("the group workspace has the tools for files [S0-45]", async () => {
  const { system } = await house()
  const group = system.listGroups().find(({ id }) => id === "workspace")
  expect(group).toMatchObject({ description: "工作空间工具", isReserved: true })
  expect(group!.tools).toEqual(
    expect.arrayContaining([
      "read_file",
      "write_file",
      "edit_file",
      "list_files",
      "get_file_info",
      "get_workspace_info",
      "read_notebook",
      "edit_notebook",
    ]),
  )
})
