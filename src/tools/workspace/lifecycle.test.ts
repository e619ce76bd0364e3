import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { ApprovalUIAdapter } from "../../core/approval.ts"
import { openTestApp, temporaryFolder } from "../../testing/test-app.ts"

/** An app on a temporary workspace, and the previews its approver was shown. */
async function openWorkspaceApp(answer: (shown: string | undefined) => boolean = () => true) {
  const workspace = temporaryFolder()
  const shown: (string | undefined)[] = []
  const approvals: ApprovalUIAdapter = {
    showToolExecutionApproval(_name, _description, _input, _level, request) {
      shown.push(request.preview)
      return Promise.resolve({ approved: answer(request.preview) })
    },
    showToolResultApproval: () => Promise.resolve({ approved: true }),
  }
  const app = await openTestApp({ org: { roles: [{ name: "dev" }], agents: [{ id: "ann", role: "dev" }] } }, { workspace, approvals })
  const call = (tool: string, input: unknown) => app.call({ agentId: "ann", tool, input })
  return { workspace, shown, call, app }
} // prettier-ignore

test("reading needs no approval, and a path outside is refused", async () => {
  const { workspace, shown, call } = await openWorkspaceApp()
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

test("a change is made after a person has seen its diff and approved it", async () => {
  const { workspace, shown, call } = await openWorkspaceApp((diff) => !diff!.includes("+never"))
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

test("if a file changes while a person reads the diff, the new diff is shown before the change", async () => {
  let path = ""
  let times = 0
  const { workspace, shown, call } = await openWorkspaceApp(() => {
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

test("a change of a protected path is refused without asking, and a preview needs no approval", async () => {
  const { workspace, shown, call } = await openWorkspaceApp()
  writeFileSync(join(workspace, "a.txt"), "one\n")
  expect(await call("write_file", { path: ".git/hooks/pre-commit", content: "x" })).toMatchObject({ success: false })
  expect(await call("edit_file", { path: "a.txt", oldText: "one", newText: "1", preview: true })).toMatchObject({
    success: true,
    result: { changed: false },
  })
  expect(shown).toEqual([])
  expect(readFileSync(join(workspace, "a.txt"), "utf8")).toBe("one\n")
})

test("the group workspace has the tools for files", async () => {
  const { app } = await openWorkspaceApp()
  const group = app.listGroups().find(({ id }) => id === "workspace")
  expect(group).toMatchObject({ description: "Files in the workspace", isReserved: true })
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
