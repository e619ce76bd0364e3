import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import type { ToolContext } from "../../core/tool.ts"
import { maxTodos } from "../../store/todo-store.ts"
import { openDatabase } from "../../store/sqlite/database.ts"
import { migrate } from "../../store/sqlite/kysely.ts"
import { storedTodos } from "../../store/sqlite/todos.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { callDirectly } from "../code/testing.ts"
import { todoTools } from "./index.ts"

interface Shown {
  id: string
  title: string
  status: string
}

async function open(file = ":memory:") {
  const database = await openDatabase(file)
  onTestFinished(() => database.close())
  await migrate(database)
  const tools = todoTools(storedTodos(database))
  const write = (input: unknown, { agent = "ann", taskId }: { agent?: string; taskId?: string } = {}) => {
    const context = { agent: { id: agent, role: "dev" }, taskId } as Partial<ToolContext>
    return callDirectly(tools, "todo_write", input, context)
  }
  return {
    file,
    write,
    async create(title: string, who = {}) {
      return (await write({ operation: "create", todo: { title } }, who))["todo"] as Shown
    },
    async titles(who = {}) {
      return ((await write({ operation: "list" }, who))["todos"] as Shown[]).map(({ title }) => title)
    },
  }
}

test("a task is created with an id and its agent as owner, changed, and deleted", async () => {
  const { write } = await open()
  const fields = {
    title: "Write tests",
    description: "All of them",
    priority: "urgent",
    status: "in_progress",
    assignee: "bob",
    deadline: 1_800_000_000_000,
    tags: ["quality"],
  }
  const { todo } = (await write({ operation: "create", todo: fields })) as unknown as { todo: Shown }
  const times = { createdAt: expect.any(Number), updatedAt: expect.any(Number) }
  expect(todo).toEqual({ ...fields, id: expect.any(String), owner: "ann", ...times })
  const changed = await write({ operation: "update", id: todo.id, todo: { status: "completed" } })
  expect(changed).toEqual({
    todo: { ...todo, status: "completed", updatedAt: expect.any(Number), completedAt: expect.any(Number) },
  })
  expect(await write({ operation: "update", todo: { id: todo.id, status: "pending" } })).not.toHaveProperty(
    "todo.completedAt",
  )
  expect(await write({ operation: "delete", id: todo.id })).toMatchObject({ todo: { id: todo.id } })
  expect(await write({ operation: "list" })).toEqual({ todos: [], total: 0 })
})

test("the list is in the order it was written, and can be narrowed to a status", async () => {
  const { write, create, titles } = await open()
  for (const title of ["c", "a", "b"]) await create(title)
  expect(await titles()).toEqual(["c", "a", "b"])
  const { todos } = (await write({ operation: "list" })) as unknown as { todos: Shown[] }
  expect(todos[0]).toMatchObject({ priority: "medium", status: "pending" })
  await write({ operation: "update", id: todos[1]!.id, todo: { status: "completed" } })
  expect(await write({ operation: "list", status: "completed" })).toMatchObject({ total: 1, todos: [{ title: "a" }] })
})

test("the whole list is replaced in one call, and what stays on it stays the same task", async () => {
  const { write, create } = await open()
  const one = await create("one")
  const two = await create("two")
  const replaced = await write({
    operation: "replace",
    todos: [
      { title: "three", status: "in_progress", activeForm: "Doing three" },
      { title: "one", status: "completed" },
      { id: two.id, title: "two, renamed" },
    ],
  })
  expect(replaced).toMatchObject({
    total: 3,
    before: [{ id: one.id }, { id: two.id }],
    todos: [
      { title: "three", status: "in_progress", activeForm: "Doing three", priority: "medium", owner: "ann" },
      { id: one.id, title: "one", status: "completed" },
      { id: two.id, title: "two, renamed", status: "pending" },
    ],
  })
  expect(await write({ operation: "replace", todos: [] })).toMatchObject({ total: 0, before: { length: 3 } })
})

test("a list belongs to its agent and its task: nobody else sees, changes or replaces it", async () => {
  const { write, create, titles } = await open()
  const mine = await create("mine")
  await create("task one", { taskId: "t1" })
  await create("bob's", { agent: "bob" })
  expect(await titles()).toEqual(["mine"])
  expect(await titles({ taskId: "t1" })).toEqual(["task one"])
  expect(await titles({ taskId: "t2" })).toEqual([])
  expect(await titles({ agent: "bob", taskId: "t1" })).toEqual([])
  const theirs = [{ agent: "bob" }, { taskId: "t1" }]
  for (const who of theirs) {
    expect(await write({ operation: "update", id: mine.id, todo: { title: "x" } }, who)).toMatchObject({
      toolCode: "todo_not_found",
    })
    expect(await write({ operation: "delete", id: mine.id }, who)).toMatchObject({ toolCode: "todo_not_found" })
    const taken = await write({ operation: "replace", todos: [{ id: mine.id, title: "x" }] }, who)
    expect((taken["todos"] as Shown[])[0]!.id).not.toBe(mine.id)
  }
  expect(await titles()).toEqual(["mine"])
})

test.each([
  [{ operation: "create" }, "todo"],
  [{ operation: "create", todo: { description: "x" } }, "todo.title"],
  [{ operation: "create", todo: { title: " " } }, "todo.title"],
  [{ operation: "create", todo: { id: "1", title: "x" } }, "id"],
  [{ operation: "create", todo: { title: "x", priority: "huge" } }, "todo.priority"],
  [{ operation: "update", todo: { title: "x" } }, "id"],
  [{ operation: "update", id: "1" }, "todo"],
  [{ operation: "update", id: "1", todo: { id: "2", title: "x" } }, "todo.id"],
  [{ operation: "delete" }, "id"],
  [{ operation: "replace" }, "todos"],
  [{ operation: "list", todos: [] }, "todos"],
  [
    {
      operation: "replace",
      todos: [
        { id: "1", title: "a" },
        { id: "1", title: "b" },
      ],
    },
    "todos",
  ],
  [{ operation: "create", todo: { title: "x" }, status: "pending" }, "status"],
  [{ operation: "finish" }, "operation"],
])("%j is refused, and %s is named", async (input, parameter) => {
  const { error, toolCode } = await callDirectly(todoTools({} as never), "todo_write", input)
  expect(toolCode).toBe("invalid_arguments")
  expect(error).toContain(`'${parameter}'`)
})

test("a task that is not there is said so, and a full list takes no more", async () => {
  const { write } = await open()
  expect(await write({ operation: "delete", id: "nope" })).toEqual({
    error: "There is no task 'nope' on your list. Use operation list to see their ids.",
    toolCode: "todo_not_found",
  })
  const todos = Array.from({ length: maxTodos }, (_, at) => ({ title: String(at) }))
  await write({ operation: "replace", todos })
  expect(await write({ operation: "create", todo: { title: "x" } })).toMatchObject({ toolCode: "list_full" })
})

test("lists last, and two processes that write at once lose nothing", async () => {
  const first = await open(join(temporaryFolder(), "quartermaster.db"))
  const second = await open(first.file)
  await Promise.all(Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? first : second).create(`t${at}`)))
  const third = await open(first.file)
  expect(new Set(await third.titles()).size).toBe(40)
})

test("a list is read by everyone who may call the tool, without being asked", () => {
  const [tool] = todoTools({} as never)
  expect(tool!.permission.level).toBe("public")
  expect(tool!.onlyReads!({ operation: "list" })).toBe(true)
  expect(tool!.onlyReads!({ operation: "create" })).toBe(false)
})
