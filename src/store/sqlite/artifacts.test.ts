import { readdirSync, statSync, unlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { artifactLimit } from "../../core/tool.ts"
import { openArtifacts, artifactIdOf } from "../testing/artifacts.ts"

const report = {
  type: "report",
  content: Buffer.from("hello"),
  mimeType: "text/plain",
  isBinary: false,
  meta: null,
  agentId: "ann",
}
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

test("an artifact is found with and without its prefix, also after a restart", async () => {
  const { artifacts, store, dir } = await openArtifacts()
  const ref = await artifacts.put(report)
  expect(ref).toMatch(/^artifact:[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  expect(await artifacts.get(artifactIdOf(ref))).toMatchObject({ id: artifactIdOf(ref) })
  await store.close()
  const again = await openArtifacts(dir)
  expect(await again.artifacts.get(ref)).toMatchObject({ id: artifactIdOf(ref), content: report.content })
})

test("only the owner of the process can read the files, and no partial file is left", async () => {
  const { artifacts, folder } = await openArtifacts()
  const ref = await artifacts.put(report)
  expect(readdirSync(folder)).toEqual([artifactIdOf(ref)])
  expect(modeOf(folder)).toBe("700")
  expect(modeOf(join(folder, artifactIdOf(ref)))).toBe("600")
})

test("a reference that is malformed or leads out of the folder finds nothing", async () => {
  const { artifacts, folder } = await openArtifacts()
  await artifacts.put(report)
  writeFileSync(join(folder, "01234567-89ab-7cde-8f01-23456789abcd"), "a file without a row")
  const refs = [
    "",
    "artifact:",
    "artifact:../../record.key",
    "../record.key",
    "artifact:..%2frecord.key",
    "artifact:01234567-89ab-7cde-8f01-23456789abcd",
    "artifact:artifact:01234567-89ab-7cde-8f01-23456789abcd",
    "artifact:01234567-89ab-7cde-8f01-23456789abcd\n",
    "artifact:01234567-89ab-7cde-8f01-23456789abcd\u0000",
    "artifact:01234567-89AB-7CDE-8F01-23456789ABCD",
    "artifact:01234567-89ab-7cde-8f01-23456789abc",
    "artifact:' or '1'='1",
    "artifact:------------------------------------",
  ]
  for (const ref of refs) {
    expect(await artifacts.get(ref)).toBeUndefined()
    expect(await artifacts.forCall({ agentId: "ann", callId: "c" }).get(ref)).toBeNull()
  }
})

test("law: a reference finds only stored artifacts", async () => {
  const { artifacts } = await openArtifacts()
  const ref = await artifacts.put(report)
  const somePiece = fc.constantFrom(
    "artifact:",
    "..",
    "/",
    "\\",
    ".",
    "\u0000",
    "record.key",
    "quartermaster.db",
    "%2e",
    "-",
    artifactIdOf(ref),
  )
  const someRef = fc.array(somePiece, { maxLength: 5 }).map((pieces) => pieces.join(""))
  await fc.assert(
    fc.asyncProperty(someRef, async (given) => {
      const found = await artifacts.get(given)
      expect(found === undefined).toBe(given !== ref && given !== artifactIdOf(ref))
    }),
  )
})

test("an agent reads only its own artifacts, and in its task those of the agents it shares with", async () => {
  const { artifacts } = await openArtifacts()
  const callArtifacts = (agentId: string, taskId?: string) =>
    artifacts.forCall({ agentId, taskId, callId: "c1", sharesWith: (owner) => agentId === "bob" && owner === "ann" })
  const loose = await callArtifacts("ann").put({ type: "note", content: "mine" })
  const shared = await callArtifacts("ann", "t1").put({ type: "note", content: "ours" })
  const reaches = async (agentId: string, taskId?: string) =>
    (await Promise.all([loose, shared].map((ref) => callArtifacts(agentId, taskId).get(ref)))).map(
      (found) => found !== null,
    )
  expect(await reaches("ann")).toEqual([true, true])
  expect(await reaches("ann", "t2")).toEqual([true, true])
  expect(await reaches("bob")).toEqual([false, false])
  expect(await reaches("bob", "t1")).toEqual([false, true])
  expect(await reaches("bob", "t2")).toEqual([false, false])
  expect(await reaches("bob", "")).toEqual([false, false])
  expect(await reaches("eve", "t1")).toEqual([false, false])
})

test("a call's artifacts distinguish text from bytes and have a MIME type", async () => {
  const { artifacts } = await openArtifacts()
  const callArtifacts = artifacts.forCall({ agentId: "ann", taskId: "t1", callId: "c1" })
  const found = async (given: Parameters<typeof callArtifacts.put>[0]) =>
    callArtifacts.get(await callArtifacts.put(given))
  const owned = { agentId: "ann", taskId: "t1", callId: "c1" }
  expect(await found({ type: "note", content: "汉字" })).toMatchObject({
    ...owned,
    isBinary: false,
    mimeType: "text/plain",
    content: Buffer.from("汉字"),
    meta: null,
  })
  expect(await found({ type: "image", content: Buffer.from([0, 255]) })).toMatchObject({
    isBinary: true,
    mimeType: "application/octet-stream",
  })
  expect(await found({ type: "page", content: "<p>", mimeType: "text/html", meta: { a: [1] } })).toMatchObject({
    mimeType: "text/html",
    meta: { a: [1] },
  })
})

test("an artifact that is too large is refused with a sentence before anything is written", async () => {
  const { artifacts, dir } = await openArtifacts()
  const content = new Uint8Array(artifactLimit + 1)
  await expect(artifacts.put({ ...report, content })).rejects.toMatchObject({
    name: "ToolFailure",
    toolCode: "artifact_too_large",
    message: expect.stringContaining(`${artifactLimit + 1} bytes`),
  })
  expect(readdirSync(dir)).not.toContain("artifacts")
})

test("an artifact whose file is gone is an error, not an empty one", async () => {
  const { artifacts, folder } = await openArtifacts()
  const ref = await artifacts.put(report)
  unlinkSync(join(folder, artifactIdOf(ref)))
  await expect(artifacts.get(ref)).rejects.toMatchObject({
    name: "StoreUnavailable",
    message: expect.stringContaining("cannot be read"),
  })
})

test("an artifact that cannot be written is an error and leaves nothing behind", async () => {
  const { artifacts, dir } = await openArtifacts()
  writeFileSync(join(dir, "artifacts"), "a file where the folder should be")
  await expect(artifacts.put(report)).rejects.toMatchObject({
    name: "StoreUnavailable",
    message: expect.stringContaining("cannot be written"),
  })
})

test("an artifact that cannot be entered in the table leaves no file behind", async () => {
  const { artifacts, store, folder } = await openArtifacts()
  await artifacts.put(report)
  store.database.exec("drop table artifacts")
  await expect(artifacts.put(report)).rejects.toMatchObject({ name: "StoreUnavailable" })
  expect(readdirSync(folder)).toHaveLength(1)
})
