import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { callbackAdapter } from "../approvals/ask/callback.ts"
import { openTestApp, temporaryFolder } from "../testing/test-app.ts"

test("a restore from the trash is in the audit log, with the name of the person", async () => {
  const workspace = realpathSync(temporaryFolder())
  mkdirSync(join(workspace, "notes"))
  writeFileSync(join(workspace, "notes/a.txt"), "mine")
  const approvals = callbackAdapter({ onExecution: () => true })
  const system = await openTestApp({}, { approvals, workspace })
  const call = (tool: string, input: object) => system.call({ agentId: "operator", tool, input })
  expect(await call("delete_file", { path: "notes/a.txt" })).toMatchObject({ success: true })
  const items = await system.trash.list()
  expect(items).toMatchObject([{ path: "notes/a.txt", agentId: "operator" }])
  for (const { id } of items) await system.trash.restore(id.slice(0, 13), "ada")
  expect(existsSync(join(workspace, "notes/a.txt"))).toBe(true)
  await system.settle()
  const notes = await Promise.all(items.map(({ id }) => system.audit.show(`trash:${id}`)))
  expect(notes).toMatchObject([[{ kind: "note", by: "ada", text: "trash restored: notes/a.txt, deleted by operator" }]])
  await expect(system.trash.restore(items[0]!.id, "ada")).rejects.toMatchObject({ toolCode: "file_not_found" })
})

test("the trash keeps as much as the configuration allows", async () => {
  const workspace = realpathSync(temporaryFolder())
  const approvals = callbackAdapter({ onExecution: () => true })
  const system = await openTestApp({ tools: { trash: { maxMb: 1 } } }, { approvals, workspace })
  for (const name of ["a", "b"]) {
    writeFileSync(join(workspace, name), Buffer.alloc(700_000))
    await system.call({ agentId: "operator", tool: "delete_file", input: { path: name } })
  }
  expect(await system.trash.list()).toMatchObject([{ path: "b" }])
})
