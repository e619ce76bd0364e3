import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { modelOf } from "../../agents/testing/played-model.ts"
import { openTestApp, temporaryFolder, tool } from "../../testing/test-app.ts"
import { allowedPathsOf } from "./agent-folder-of-call.ts"

test.each([
  [undefined, undefined, undefined],
  [undefined, ["src"], ["src"]],
  ["docs", undefined, ["docs"]],
  ["docs", ["docs"], ["docs"]],
  ["docs", ["docs/a", "docs/*.md", "/work/docs/b/**"], ["docs/a", "docs/*.md", "/work/docs/b/**"]],
  ["docs/a", ["docs", "."], ["docs/a", "docs/a"]],
  ["docs/a", ["/work", "/work/docs/**"], ["docs/a", "docs/a"]],
  ["docs", ["src", "/etc", "docs/../src", "../work2/docs", "~/docs", "docs2", "**/*.md", ".."], []],
])("an agent with the folder %s whose call asks for %j may use %j", (folder, asked, allowed) => {
  expect(allowedPathsOf(folder, asked, "/work")).toEqual(allowed)
})

/** An agent with a folder, and a secret beside it. */
async function openFenced() {
  const workspace = temporaryFolder()
  mkdirSync(join(workspace, "docs"))
  writeFileSync(join(workspace, "docs/note.txt"), "a note")
  writeFileSync(join(workspace, "secret.txt"), "SECRET")
  const org = {
    roles: [{ name: "writer", toolGroups: ["workspace", "test"] }],
    agents: [{ id: "kid", role: "writer", folder: "docs" }],
  }
  const played = modelOf({ calls: [{ name: "read_file", input: { path: "secret.txt" } }] }, { say: "Done." })
  const app = await openTestApp({ org }, { workspace, models: { played } })
  app.registry.register(
    tool({
      name: "through",
      effect: "read",
      execute: (_input, { call }) => call!("read_file", { path: "secret.txt" }),
    }),
  )
  return app
}

test("whoever makes an agent's call, it stays in the agent's folder", async () => {
  const app = await openFenced()
  const read = (path: string, more = {}) => ({ agentId: "kid", tool: "read_file", input: { path }, ...more })
  expect(await app.call(read("docs/note.txt"))).toMatchObject({ success: true })
  for (const more of [{}, { allowedPaths: ["."] }, { allowedPaths: ["secret.txt"] }])
    expect(await app.call(read("secret.txt", more))).toMatchObject({ success: false })
  expect(await app.call(read("docs/note.txt", { allowedPaths: ["docs/other"] }))).toMatchObject({ success: false })
  expect(await app.call(read("secret.txt"), { waitMs: 0 })).toMatchObject({ success: false })
  expect(await app.callMany([read("secret.txt")])).toMatchObject([{ success: false }])
  expect(JSON.stringify(await app.call({ agentId: "kid", tool: "through", input: {} }))).not.toContain("SECRET")
  expect(await app.why(read("secret.txt"))).toMatchObject({ verdict: "deny" })
  expect(await app.why(read("docs/note.txt"))).toMatchObject({ verdict: "allow" })
})

test("the conversation of an agent stays in its folder, also when another interface goes on with it", async () => {
  const app = await openFenced()
  const running = app.society.start()
  await app.society.message({ to: "kid", payload: "Read it.", by: "ada" })
  await running.idle()
  const [found] = (await app.conversations.list({ agentId: "kid" })).conversations
  await app.chain("kid", { id: found!.id, userId: "ada" }).run("Read it.")
  const turns = await app.conversations.turns(found!.id)
  expect(turns.filter(({ kind }) => kind === "results").length).toBeGreaterThan(0)
  expect(JSON.stringify(turns)).not.toContain("SECRET")
})
