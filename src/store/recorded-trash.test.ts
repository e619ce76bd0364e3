import { existsSync, mkdirSync, realpathSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { callbackAdapter } from "../approval/callback.ts"
import { open, temporaryFolder } from "../testing/open.ts"

test("what a person brings back from the trash is in the record, with their name", async () => {
  const workspace = realpathSync(temporaryFolder())
  mkdirSync(join(workspace, "notes"))
  writeFileSync(join(workspace, "notes/a.txt"), "mine")
  const approvals = callbackAdapter({ onExecution: () => true })
  const system = await open({ tools: { shell: { sandbox: "off" } } }, { approvals, workspace })
  const call = (tool: string, input: object) => system.call({ agentId: "operator", tool, input })
  expect(await call("delete_file", { path: "notes/a.txt" })).toMatchObject({ success: true })
  expect(await call("run_command", { command: "mkdir sub; name=envrc; echo x > sub/.$name" })).toMatchObject({
    success: true,
    result: { sealed: ["sub/.envrc"] },
  })
  const items = await system.trash.list()
  expect(items).toMatchObject([
    { path: "sub/.envrc", agentId: "operator" },
    { path: "notes/a.txt", agentId: "operator" },
  ])
  expect(items.map(({ taken }) => taken !== undefined)).toEqual([true, false])
  for (const { id } of items) await system.trash.restore(id.slice(0, 13), "ada")
  for (const path of ["sub/.envrc", "notes/a.txt"]) expect(existsSync(join(workspace, path))).toBe(true)
  await system.settle()
  const told = await Promise.all(items.map(({ id }) => system.audit.show(`trash:${id}`)))
  expect(told).toMatchObject([
    [{ kind: "note", by: "ada", text: "trash restored: sub/.envrc, made by a command of operator" }],
    [{ kind: "note", by: "ada", text: "trash restored: notes/a.txt, deleted by operator" }],
  ])
  await expect(system.trash.restore(items[0]!.id, "ada")).rejects.toMatchObject({ toolCode: "file_not_found" })
})

test("the trash keeps as much as the configuration says", async () => {
  const workspace = realpathSync(temporaryFolder())
  const approvals = callbackAdapter({ onExecution: () => true })
  const system = await open({ tools: { trash: { maxMb: 1 } } }, { approvals, workspace })
  for (const name of ["a", "b"]) {
    writeFileSync(join(workspace, name), Buffer.alloc(700_000))
    await system.call({ agentId: "operator", tool: "delete_file", input: { path: name } })
  }
  expect(await system.trash.list()).toMatchObject([{ path: "b" }])
})
