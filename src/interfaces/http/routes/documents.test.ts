import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { modelOf } from "../../../agents/testing/played-model.ts"
import { until } from "../../../testing/test-app.ts"
import type { DocumentConflictJson, DocumentJson } from "./document-schemas.ts"
import { serving } from "./testing.ts"

test("a document is opened, typed in, sent and seen only by those who may see its conversation", async () => {
  const { app, workspace, signIn, agent } = await serving({ played: modelOf({ say: "Twelve." }) }, [
    { id: "cal", scopes: ["read", "call"] },
    { id: "max", scopes: ["read", "call", "manage"] },
  ])
  const [pat, cal, max] = [await signIn("pat", false), await signIn("cal", false), await signIn("max", false)]
  const file = "/v1/documents/file"
  const opened = await pat.ask("POST", "/v1/documents", { path: "notes.md", agentId: "ada" })
  expect(opened).toMatchObject({ status: 200, body: { path: "notes.md", agentId: "ada", isOpen: true, draft: "" } })
  const { revision, markdown } = opened.body as DocumentJson
  const typed = markdown.replace("## Draft\n", "## Draft\n\nHow many?\n")
  const saved = (await pat.ask("PUT", file, { path: "notes.md", revision, markdown: typed })).body as DocumentJson
  expect(saved).toMatchObject({ draft: "How many?", sent: "" })

  const late = await pat.ask("PUT", file, { path: "notes.md", revision, markdown: `${markdown}Mine.\n` })
  expect(late.status).toBe(409)
  expect(late.body as DocumentConflictJson).toMatchObject({
    current: { draft: "How many?" },
    yours: `${markdown}Mine.\n`,
  })

  const draft = { path: "notes.md", revision: saved.revision, draft: "How many?" }
  expect((await cal.ask("POST", "/v1/documents/send", draft)).status).toBe(404)
  expect((await (await agent("ada"))("POST", "/v1/documents/send", draft)).status).toBe(403)
  expect((await pat.ask("POST", "/v1/documents/send", { ...draft, draft: "Other." })).status).toBe(409)
  expect(await pat.ask("POST", "/v1/documents/send", draft)).toMatchObject({ status: 200, body: { draft: "" } })
  await until(() => readFileSync(join(workspace, "notes.md"), "utf8").includes("> Twelve."), "the answer is saved")
  expect((await pat.ask("POST", "/v1/documents/send", draft)).status).toBe(409)

  const read = await pat.ask("GET", `${file}?path=notes.md`)
  expect(read.body).toMatchObject({
    sections: [
      { kind: "person", heading: "Pat", turn: 0, text: "How many?" },
      { kind: "agent", heading: "ada", turn: 1, text: "Twelve." },
      { kind: "draft" },
    ],
  })
  expect((await cal.ask("GET", `${file}?path=notes.md`)).status).toBe(404)
  expect((await max.ask("GET", `${file}?path=notes.md`)).status).toBe(200)
  expect((await cal.ask("GET", "/v1/documents")).body).toEqual({ items: [] })
  expect((await pat.ask("GET", "/v1/documents")).body).toMatchObject({ items: [{ path: "notes.md", isOpen: true }] })
  expect((await cal.ask("POST", "/v1/documents", { path: "./notes.md" })).status).toBe(404)
  expect((await pat.ask("POST", "/v1/documents", { path: "../x.md", agentId: "ada" })).status).toBe(422)
  expect((await pat.ask("POST", "/v1/documents/close", { path: "notes.md" })).status).toBe(204)
  expect(app.documents.binding("notes.md")).toMatchObject({ isOpen: false })
})
