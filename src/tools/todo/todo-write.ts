import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { failure } from "../../core/ending.ts"
import { maxTodos, todoPriorities, todoStatuses, type TodoOwner, type Todos } from "../../store/todo-store.ts"

const title = z.string().trim().min(1).max(2000).describe("What is to be done")
const rest = {
  description: z.string().max(20_000).optional().describe("More about it"),
  activeForm: z
    .string()
    .max(2000)
    .optional()
    .describe("How to call it while it is in progress, for example Running the tests"),
  assignee: z.string().min(1).max(200).optional().describe("Who does it"),
  deadline: z.number().optional().describe("Milliseconds since 1970"),
  tags: z.array(z.string().min(1).max(100)).max(50).optional(),
}
const id = z.string().min(1).max(100)
const priority = z.enum(todoPriorities)
const status = z.enum(todoStatuses)

const input = z
  .object({
    operation: z
      .enum(["create", "update", "delete", "list", "replace"])
      .describe("replace replaces the whole list by todos"),
    id: id.optional().describe("Which one to update or delete; the same as todo.id"),
    todo: z
      .object({
        id: id.optional(),
        title: title.optional(),
        priority: priority.optional().describe("medium when left out"),
        status: status.optional().describe("pending when left out"),
        ...rest,
      })
      .optional()
      .describe("What to create; for update only what changes"),
    todos: z
      .array(
        z.object({
          id: id.optional().describe("The id of an existing one; an equal title is enough"),
          title,
          priority: priority.default("medium"),
          status: status.default("pending"),
          ...rest,
        }),
      )
      .max(maxTodos)
      .optional()
      .describe("For replace: the whole list, in order"),
    status: status.optional().describe("For list: only those"),
  })
  .superRefine((given, context) => {
    for (const [path, message] of mistakes(given)) context.addIssue({ code: "custom", path: [...path], message })
  })

const todo = z.object({
  id: z.string(),
  owner: z.string(),
  title: z.string(),
  description: z.string().optional(),
  priority,
  status,
  activeForm: z.string().optional(),
  assignee: z.string().optional(),
  deadline: z.number().optional(),
  tags: z.array(z.string()).optional(),
  createdAt: z.number(),
  updatedAt: z.number(),
  completedAt: z.number().optional(),
})

/** An agent's task lists, one for each of its tasks. */
export const todoWrite = (todos: Todos) =>
  defineTool({
    name: "todo_write",
    group: "todo",
    category: "utility",
    description:
      "Keep your task list: create, update, delete or list tasks, or replace the whole list in one call. The list is yours alone, one for each task you work on, and lasts.",
    effect: "write",
    permission: { level: "public" },
    input,
    output: () =>
      z.object({
        todo: todo.optional(),
        todos: z.array(todo).optional(),
        before: z.array(todo).optional(),
        total: z.number().optional(),
      }),
    onlyReads: ({ operation }) => operation === "list",

    async execute(given, { agent, taskId }) {
      const owner: TodoOwner = { agentId: agent.id, taskId }
      const which = given.id ?? given.todo?.id ?? ""
      const { id: _, ...fields } = given.todo ?? {}
      if (given.operation === "create") {
        const { title = "", priority = "medium", status = "pending" } = fields
        return { todo: found(await todos.create(owner, { ...fields, title, priority, status }), full) }
      }
      if (given.operation === "update") return { todo: found(await todos.update(owner, which, fields), missing(which)) }
      if (given.operation === "delete") return { todo: found(await todos.delete(owner, which), missing(which)) }
      if (given.operation === "replace") {
        const { before, after } = await todos.replace(owner, given.todos ?? [])
        return { todos: after, before, total: after.length }
      }
      const all = await todos.list(owner)
      const shown = given.status === undefined ? all : all.filter((one) => one.status === given.status)
      return { todos: shown, total: shown.length }
    },
  })

const full = `The list has ${maxTodos} tasks. Delete those that are done first.`
const missing = (which: string) => `There is no task '${which}' on your list. Use operation list to see their ids.`

function found<T>(value: T | undefined, otherwise: string): T {
  if (value !== undefined) return value
  throw failure(otherwise, { toolCode: otherwise === full ? "list_full" : "todo_not_found" })
}

interface Given {
  operation: string
  id?: string
  todo?: { id?: string; title?: string }
  todos?: readonly { id?: string }[]
  status?: string
}

/** Checks which parameters an operation needs and which it does not take. */
function* mistakes({ operation, id, todo, todos, status }: Given): Generator<[path: string[], message: string]> {
  const which = id ?? todo?.id
  const names = operation === "update" || operation === "delete"
  if (operation === "create" && todo === undefined) yield [["todo"], "is required to create a task"]
  if (operation === "create" && todo !== undefined && todo.title === undefined) yield [["todo", "title"], "is required"]
  if (operation === "create" && which !== undefined) yield [["id"], "is given to a new task, not chosen"]
  if (names && which === undefined) yield [["id"], `is required to ${operation} a task`]
  if (names && id !== undefined && todo?.id !== undefined && id !== todo.id) yield [["todo", "id"], "differs from id"]
  if (operation === "update" && Object.keys(todo ?? {}).every((key) => key === "id")) {
    yield [["todo"], "must say what changes"]
  }
  if (operation === "replace" && todos === undefined) yield [["todos"], "is required to replace the list"]
  if (operation !== "replace" && todos !== undefined) yield [["todos"], "is only for replace"]
  if (operation !== "list" && status !== undefined) yield [["status"], "is only for list; a task's is todo.status"]
  const ids = (todos ?? []).flatMap((one) => one.id ?? [])
  if (new Set(ids).size !== ids.length) yield [["todos"], "has an id twice"]
}
