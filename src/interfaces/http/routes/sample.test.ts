import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import { sampleFiles, sampleMaker } from "../../../org/sample.ts"
import { temporaryFolder } from "../../../testing/test-app.ts"
import { serveAppForTest, sessionHeaders } from "../testing.ts"

test("removing the sample keeps what people made and what that needs, and removes the rest", async () => {
  const workspace = temporaryFolder()
  const isSample = () => true
  const { app, served } = await serveAppForTest({}, { isSample }, { workspace })
  for (const file of sampleFiles) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true })
    writeFileSync(join(workspace, file), "of the sample")
  }
  const sample = { kind: "person", id: sampleMaker } as const
  const pat = { kind: "person", id: "pat" } as const
  const { org } = app
  for (const id of ["engineering", "research"]) await org.createDepartment({ id }, sample)
  await org.createRole({ name: "developer", rolePrompt: "Write.", department: "engineering" }, sample)
  await org.createRole({ name: "analyst", rolePrompt: "Look.", department: "research" }, sample)
  await org.createAgent({ id: "dev", role: "developer" }, sample)
  await org.createAgent({ id: "ana", role: "analyst" }, sample)
  await org.createRole({ name: "reviewer", rolePrompt: "Review.", department: "engineering" }, pat)
  await org.createAgent({ id: "rex", role: "reviewer", parentId: "dev" }, pat)

  const headers = await sessionHeaders(app, "someone", true)
  const remove = async () => {
    const response = await fetch(`${served.url}/v1/sample`, { method: "DELETE", headers })
    return { status: response.status, body: (await response.json()) as { kept: string[] } }
  }
  const developer = org.findRole("developer")!.id
  const kept = ["dev", developer, "engineering"]
  expect(await remove()).toEqual({ status: 200, body: { agents: 1, roles: 1, departments: 1, files: 5, kept } })
  const active = (list: readonly { id: string; status: string }[]) =>
    list.flatMap(({ id, status }) => (status === "active" ? id : []))
  expect(active(org.listAgents())).toEqual(expect.arrayContaining(["dev", "rex"]))
  expect(active(org.listAgents())).not.toContain("ana")
  expect(active(org.listDepartments())).toEqual(["engineering"])

  await org.terminateAgent("rex", pat)
  await org.deleteRole("reviewer", pat)
  expect(await remove()).toMatchObject({ status: 200, body: { agents: 1, roles: 1, departments: 1, kept: [] } })
})
