import { join } from "node:path"
import fc from "fast-check"
import { expect, onTestFinished, test } from "vitest"
import type { Snippet, SnippetStorage } from "../../store/snippet-store.ts"
import { openDatabase } from "../../store/sqlite/database.ts"
import { migrate } from "../../store/sqlite/kysely.ts"
import { storedSnippets } from "../../store/sqlite/snippets.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { snippetDelete } from "./snippet-delete.ts"
import { snippetList } from "./snippet-list.ts"
import { snippetLoad } from "./snippet-load.ts"
import { snippetSave } from "./snippet-save.ts"
import { callDirectly, type DirectResult } from "./testing.ts"

const toolsOver = (storage: SnippetStorage) => [
  snippetSave(storage),
  snippetLoad(storage),
  snippetList(storage),
  snippetDelete(storage),
]

async function open(file = ":memory:") {
  const database = await openDatabase(file)
  onTestFinished(() => database.close())
  await migrate(database)
  const tools = toolsOver(storedSnippets(database))
  return {
    file,
    call: (tool: string, input: unknown, agent = "ann"): Promise<DirectResult> =>
      callDirectly(tools, tool, input, { agent: { id: agent, role: "dev" } }),
  }
}

test("a snippet is saved, loaded by name and by id, and listed with its defaults", async () => {
  const { call } = await open()
  const saved = await call("snippet_save", { name: "debounce", code: "const x = 1\n" })
  expect(saved).toEqual({ id: expect.any(String), name: "debounce", created: true })
  const loaded = await call("snippet_load", { name: "debounce" })
  expect(loaded).toMatchObject({
    id: saved["id"],
    name: "debounce",
    code: "const x = 1\n",
    description: "",
    language: "plaintext",
    tags: [],
  })
  expect(await call("snippet_load", { name: saved["id"] })).toEqual(loaded)
  const { code: _, ...shown } = loaded
  expect(await call("snippet_list", {})).toEqual({ count: 1, truncated: false, snippets: [shown] })
})

test("a second save of a name changes the one there is, and what is left out stays", async () => {
  const { call } = await open()
  const first = await call("snippet_save", {
    name: "a",
    code: "1",
    description: "One",
    language: "js",
    tags: ["x", "x"],
  })
  const second = await call("snippet_save", { name: " a ", code: "2" }, "bob")
  expect(second).toEqual({ ...first, created: false })
  expect(await call("snippet_load", { name: "a" })).toMatchObject({
    code: "2",
    description: "One",
    language: "js",
    tags: ["x"],
  })
  expect(await call("snippet_list", {})).toMatchObject({ count: 1 })
})

test("the list is narrowed by all tags, language and words", async () => {
  const { call } = await open()
  await call("snippet_save", {
    name: "b",
    code: "1",
    language: "TypeScript",
    tags: ["net", "http"],
    description: "Fetches",
  })
  await call("snippet_save", { name: "a", code: "1", language: "python", tags: ["net"] })
  const names = async (filter: unknown) =>
    ((await call("snippet_list", filter)) as unknown as { snippets: { name: string }[] }).snippets.map(
      ({ name }) => name,
    )
  expect(await names({})).toEqual(["a", "b"])
  expect(await names({ tags: ["net", "http"] })).toEqual(["b"])
  expect(await names({ language: "typescript" })).toEqual(["b"])
  expect(await names({ tags: ["net"], language: "python" })).toEqual(["a"])
  expect(await names({ search: "FETCH" })).toEqual(["b"])
  expect(await names({ tags: ["none"] })).toEqual([])
})

test("what is not there is said, with the name that is near", async () => {
  const { call } = await open()
  expect(await call("snippet_load", { name: "x" })).toEqual({
    error: "Snippet 'x' not found. Call snippet_list to see what there is.",
    toolCode: "snippet_not_found",
  })
  await call("snippet_save", { name: "debounce", code: "1" })
  expect((await call("snippet_load", { name: "debounse" })).error).toBe(
    "Snippet 'debounse' not found. Did you mean 'debounce'?",
  )
  expect(await call("snippet_delete", { name: "x" })).toMatchObject({ toolCode: "snippet_not_found" })
})

test("a deleted snippet is gone, by name or by id, and its name is free", async () => {
  const { call } = await open()
  const { id } = await call("snippet_save", { name: "a", code: "1" })
  expect(await call("snippet_delete", { name: id })).toEqual({ success: true, id, name: "a" })
  expect(await call("snippet_load", { name: "a" })).toMatchObject({ toolCode: "snippet_not_found" })
  expect(await call("snippet_save", { name: "a", code: "2" })).toMatchObject({ created: true })
})

test("no name can stand for another's id, lead anywhere, or hide a control character", async () => {
  const { call } = await open()
  const { id } = await call("snippet_save", { name: "a", code: "mine" })
  expect(await call("snippet_save", { name: id, code: "theirs" })).toMatchObject({ toolCode: "bad_name" })
  expect(await call("snippet_load", { name: id })).toMatchObject({ code: "mine" })
  for (const name of ["../../etc/passwd", "a/b", "%", "'; drop table snippets; --", "名字"]) {
    await call("snippet_save", { name, code: name })
    expect(await call("snippet_load", { name })).toMatchObject({ name, code: name })
  }
  for (const name of ["", " ", "a\nb", "a\0b", "\ud800", "x".repeat(201)]) {
    expect(await call("snippet_save", { name, code: "1" })).toMatchObject({ toolCode: "invalid_arguments" })
  }
})

test("snippets last, and two processes that save the same name at once make one snippet", async () => {
  const first = await open(join(temporaryFolder(), "quartermaster.db"))
  const second = await open(first.file)
  const saves = await Promise.all(
    Array.from({ length: 40 }, (_, at) =>
      (at % 2 === 0 ? first : second).call("snippet_save", { name: `n${at % 5}`, code: String(at) }),
    ),
  )
  expect(new Set(saves.map(({ id }) => id)).size).toBe(5)
  expect(saves.filter(({ created }) => created).length).toBe(5)
  const third = await open(first.file)
  expect(await third.call("snippet_list", {})).toMatchObject({ count: 5 })
})

test("law: any code comes back as it was saved", async () => {
  const { call } = await open()
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "binary", minLength: 1 }), async (code) => {
      await call("snippet_save", { name: "x", code })
      expect((await call("snippet_load", { name: "x" }))["code"]).toBe(code)
    }),
    { numRuns: 100 },
  )
})

test("another storage can be given in place of the store", async () => {
  const kept = new Map<string, Snippet>()
  const tools = toolsOver({
    save: (draft, agentId) => {
      const times = { createdAt: 1, updatedAt: 1, createdBy: agentId, updatedBy: agentId }
      const snippet = { description: "", language: "plaintext", tags: [], id: "1", ...times, ...draft } as Snippet
      kept.set(draft.name, snippet)
      return Promise.resolve({ snippet, created: true })
    },
    load: (name) => Promise.resolve(kept.get(name)),
    list: () => Promise.resolve([...kept.values()]),
    delete: () => Promise.resolve(undefined),
  })
  expect(await callDirectly(tools, "snippet_save", { name: "a", code: "1" })).toEqual({
    id: "1",
    name: "a",
    created: true,
  })
  expect(await callDirectly(tools, "snippet_load", { name: "a" })).toMatchObject({ code: "1" })
})
