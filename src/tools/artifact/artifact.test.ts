import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import type { CallArtifacts, ToolContext } from "../../core/tool.ts"
import { openTestApp } from "../../testing/test-app.ts"
import { getArtifact } from "./get-artifact.ts"
import { putArtifact } from "./put-artifact.ts"
import { team, put, get } from "./testing/artifact.ts"

test("the group artifact has put_artifact and get_artifact", async () => {
  const system = await openTestApp({ language: "zh" })
  expect(system.listGroups().find(({ id }) => id === "artifact")).toMatchObject({
    description: "工件管理工具",
    tools: ["put_artifact", "get_artifact"],
    isReserved: true,
  })
})

test("a text is put and got back with all that is known of it, and nobody is asked", async () => {
  const system = await openTestApp({ ...team, approvals: { unattended: "reject" } })
  const before = Date.now()
  const result = await system.call({
    agentId: "ann",
    tool: "put_artifact",
    input: { type: "report", content: "# 报告 🎉\n", meta: { pages: 1, tags: ["a"] } },
  })
  const { artifactRef } = result.result as { artifactRef: string }
  expect(artifactRef).toMatch(/^artifact:[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/)
  const id = artifactRef.replace("artifact:", "")
  const found = await get(system, artifactRef)
  expect(found).toEqual({
    id,
    content: "# 报告 🎉\n",
    type: "report",
    createdAt: expect.any(Number),
    messageId: result.callId,
    meta: { pages: 1, tags: ["a"] },
    isBinary: false,
    mimeType: "text/plain",
  })
  expect((found as { createdAt: number }).createdAt).toBeGreaterThanOrEqual(before)
  expect(await get(system, id)).toEqual(found)
})

test("without meta it is null, and a kind that is given is kept", async () => {
  const system = await openTestApp(team)
  const page = await put(system, { type: "page", content: "", mimeType: "text/html" })
  expect(await get(system, page)).toMatchObject({ content: "", mimeType: "text/html", meta: null })
  const image = await put(system, { type: "image", content: "iVBORw==", encoding: "base64", mimeType: "image/png" })
  expect(await get(system, image)).toMatchObject({ content: "iVBORw==", isBinary: true, mimeType: "image/png" })
  const bytes = await put(system, { type: "bytes", content: "AP8=", encoding: "base64" })
  expect(await get(system, bytes)).toMatchObject({
    content: "AP8=",
    isBinary: true,
    mimeType: "application/octet-stream",
  })
})

test("an artifact is read by its agent, and in its task by the agents above and below it, but by no other that names the task", async () => {
  const agents = [
    { id: "ann", role: "dev" },
    { id: "bob", role: "dev" },
    { id: "below", role: "dev", parent: "ann" },
    { id: "deep", role: "dev", parent: "below" },
    { id: "beside", role: "dev", parent: "ann" },
  ]
  const system = await openTestApp({ org: { roles: [{ name: "dev" }], agents } })
  const loose = await put(system, { type: "note", content: "mine" })
  const shared = await put(system, { type: "note", content: "ours" }, { taskId: "t1" })
  const bob = { agentId: "bob" }
  expect(await get(system, loose, bob)).toBeNull()
  expect(await get(system, shared, bob)).toBeNull()
  expect(await get(system, shared, { ...bob, taskId: "t2" })).toBeNull()
  expect(await get(system, shared, { ...bob, taskId: "t1" })).toBeNull()
  expect(await get(system, shared, { taskId: "t2" })).toMatchObject({ content: "ours" })
  expect(await get(system, shared, { agentId: "deep", taskId: "t1" })).toMatchObject({ content: "ours" })
  expect(await get(system, shared, { agentId: "deep", taskId: "t2" })).toBeNull()
  expect(await get(system, loose, { agentId: "deep", taskId: "t1" })).toBeNull()
  const found = await put(system, { type: "note", content: "found" }, { agentId: "deep", taskId: "t1" })
  expect(await get(system, found, { taskId: "t1" })).toMatchObject({ content: "found" })
  expect(await get(system, found, { agentId: "beside", taskId: "t1" })).toBeNull()
})

test("what a sub-agent stored is read by the agent above it after the sub-agent was terminated", async () => {
  const system = await openTestApp(team)
  const by = { kind: "person", id: "admin" } as const
  await system.org.createAgent({ id: "below", role: "dev", parentId: "ann" }, by)
  const found = await put(system, { type: "note", content: "found" }, { agentId: "below", taskId: "t1" })
  await system.org.terminateAgent("below", by)
  expect(await get(system, found, { taskId: "t1" })).toMatchObject({ content: "found" })
})

test("a long artifact is read in parts, none of which splits a character, and the last says so", async () => {
  const system = await openTestApp(team)
  const text = "ab🎉cd"
  const ref = await put(system, { type: "note", content: text })
  const part = (input: object) => get(system, ref, {}, input)
  expect(await part({ limit: 2 })).toMatchObject({ content: "ab", total: 6, nextOffset: 2 })
  expect(await part({ offset: 2, limit: 1 })).toMatchObject({ content: "🎉", total: 6, nextOffset: 4 })
  expect(await part({ offset: 4 })).toMatchObject({ content: "cd", total: 6, nextOffset: null })
  expect(await part({ offset: 99, limit: 5 })).toMatchObject({ content: "", total: 6, nextOffset: null })
  const bytes = await put(system, { type: "bytes", content: "AP8AAA==", encoding: "base64" })
  expect(await get(system, bytes, {}, { offset: 4, limit: 4 })).toMatchObject({ content: "AA==", isBinary: true })
})

test("an unknown or malformed reference, also one that leads out of the folder, is null", async () => {
  const system = await openTestApp(team)
  await put(system, { type: "note", content: "x" })
  const refs = [
    "artifact:../../record.key",
    "../record.key",
    "artifact:",
    "x",
    "artifact:01234567-89ab-7cde-8f01-23456789abcd",
    "artifact:\u0000",
  ]
  for (const ref of refs) expect(await get(system, ref)).toBeNull()
})

test("the files are for the owner of the process only", async () => {
  const system = await openTestApp(team)
  const ref = await put(system, { type: "note", content: "x" })
  const folder = join(system.dir, "artifacts")
  const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)
  expect([mode(folder), ...readdirSync(folder).map((file) => [file, mode(join(folder, file))])]).toEqual([
    "700",
    [ref.replace("artifact:", ""), "600"],
  ])
})

test("an artifact survives a restart", async () => {
  const first = await openTestApp(team)
  const ref = await put(first, { type: "note", content: "still here" })
  await first.close()
  const second = await openTestApp({ ...team, data: { dir: first.dir } })
  expect(await get(second, ref)).toMatchObject({ content: "still here" })
})

test("put_artifact refuses what is not Base64, and stores nothing", async () => {
  const system = await openTestApp(team)
  for (const content of ["AP8!", "AP8", "A=P8", "====", "-_8=", "AP8=\n"]) {
    const result = await system.call({
      agentId: "ann",
      tool: "put_artifact",
      input: { type: "bytes", content, encoding: "base64" },
    })
    expect(result).toMatchObject({ code: "tool_failed", metadata: { toolCode: "invalid_base64" } })
  }
  expect(readdirSync(system.dir)).not.toContain("artifacts")
})

test("put_artifact refuses a text with half of a character instead of mangling it", async () => {
  const system = await openTestApp(team)
  const result = await system.call({
    agentId: "ann",
    tool: "put_artifact",
    input: { type: "text", content: "a\ud83c" },
  })
  expect(result).toMatchObject({ code: "tool_failed", metadata: { toolCode: "not_text" } })
})

test("both tools say what is wrong with their input", async () => {
  const system = await openTestApp(team)
  const bad: [string, unknown][] = [
    ["put_artifact", { content: "x" }],
    ["put_artifact", { type: "", content: "x" }],
    ["put_artifact", { type: "x".repeat(201), content: "x" }],
    ["put_artifact", { type: "note" }],
    ["put_artifact", { type: "note", content: { a: 1 } }],
    ["put_artifact", { type: "note", content: "x", encoding: "hex" }],
    ["put_artifact", { type: "note", content: "x", mimeType: "" }],
    ["put_artifact", { type: "note", content: "x", meta: "text" }],
    ["get_artifact", {}],
    ["get_artifact", { ref: "" }],
    ["get_artifact", { ref: 1 }],
    ["get_artifact", { ref: "x", refs: [] }],
    ["get_artifact", { ref: "x", offset: -1 }],
    ["get_artifact", { ref: "x", limit: 0 }],
  ]
  for (const [tool, input] of bad)
    expect(await system.call({ agentId: "ann", tool, input })).toMatchObject({ code: "invalid_arguments" })
})

test("both tools run without the app, with an artifact store only", async () => {
  const given: unknown[] = []
  const artifacts: CallArtifacts = {
    put: (artifact) => Promise.resolve(`artifact:${given.push(artifact)}`),
    get: () => Promise.resolve(null),
  }
  const context = { taskId: "t1", artifacts } as unknown as ToolContext
  expect(await putArtifact().execute({ type: "note", content: "x", encoding: "utf8" }, context)).toEqual({
    artifactRef: "artifact:1",
  })
  expect(given).toEqual([{ type: "note", content: "x", meta: null }])
  expect(await getArtifact().execute({ ref: "artifact:1" }, context)).toBeNull()
})
