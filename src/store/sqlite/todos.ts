import { newId } from "../../lib/new-id.ts"
import { maxTodos, type Todo, type TodoChange, type TodoFields, type TodoOwner, type Todos } from "../todo-store.ts"
import { transaction, retryWhileBusy, type Database } from "./database.ts"

/** The todos table of the embedded store. Several processes share it; every change is one transaction. */
export function storedTodos(database: Database): Todos {
  const list = ({ agentId, taskId = "" }: TodoOwner): Todo[] => {
    const rows = database
      .prepare("select body from todos where agent_id = ? and task_id = ? order by place")
      .all(agentId, taskId) as { body: string }[]
    return rows.map(({ body }) => JSON.parse(body) as Todo)
  }
  const insert = ({ agentId, taskId = "" }: TodoOwner, todo: Todo): Todo => {
    database
      .prepare(
        `insert into todos (id, agent_id, task_id, place, body) values (?, ?, ?,
           (select coalesce(max(place), 0) + 1 from todos where agent_id = ? and task_id = ?), ?)`,
      )
      .run(todo.id, agentId, taskId, agentId, taskId, JSON.stringify(todo))
    return todo
  }
  const write = (owner: TodoOwner, fields: TodoFields): Todo | undefined => {
    if (list(owner).length >= maxTodos) return undefined
    return insert(owner, todoWith(undefined, fields, owner))
  }
  const change = (owner: TodoOwner, id: string, fields: TodoChange): Todo | undefined => {
    const known = list(owner).find((todo) => todo.id === id)
    if (known === undefined) return undefined
    const changed = Object.entries(fields).filter(([, value]) => value !== undefined)
    const todo = todoWith(known, { ...known, ...(Object.fromEntries(changed) as Partial<TodoFields>) }, owner)
    database.prepare("update todos set body = ? where id = ?").run(JSON.stringify(todo), id)
    return todo
  }
  const remove = (owner: TodoOwner, id: string): Todo | undefined => {
    const known = list(owner).find((todo) => todo.id === id)
    if (known !== undefined) database.prepare("delete from todos where id = ?").run(id)
    return known
  }
  const replace: (owner: TodoOwner, items: Parameters<Todos["replace"]>[1]) => { before: Todo[]; after: Todo[] } = (
    owner,
    items,
  ) => {
    const before = list(owner)
    const left = new Set(before)
    const take = (fits: (todo: Todo) => boolean): Todo | undefined => {
      const found = [...left].find(fits)
      if (found !== undefined) left.delete(found)
      return found
    }
    const byId = items.map(({ id }) => (id === undefined ? undefined : take((todo) => todo.id === id)))
    database.prepare("delete from todos where agent_id = ? and task_id = ?").run(owner.agentId, owner.taskId ?? "")
    const after = items.map((fields, place) => {
      const known = byId[place] ?? take((todo) => todo.title === fields.title)
      return insert(owner, todoWith(known, fields, owner))
    })
    return { before, after }
  }
  const atomically = <T>(work: () => T) => retryWhileBusy(() => transaction(database, work))
  return {
    list: (owner) => retryWhileBusy(() => list(owner)),
    create: (owner, fields) => atomically(() => write(owner, fields)),
    update: (owner, id, fields) => atomically(() => change(owner, id, fields)),
    delete: (owner, id) => atomically(() => remove(owner, id)),
    replace: (owner, items) => atomically(() => replace(owner, items)),
  }
}

/** A new todo, or the known one with changed fields. */
function todoWith(known: Todo | undefined, fields: TodoFields, { agentId }: TodoOwner): Todo {
  const now = Date.now()
  const { title, description, priority, status, activeForm, assignee, deadline, tags } = fields
  const done = status === "completed" ? (known?.completedAt ?? now) : undefined
  const todo: Todo = {
    id: known?.id ?? newId(),
    owner: agentId,
    title,
    description,
    priority,
    status,
    activeForm,
    assignee,
    deadline,
    tags,
    createdAt: known?.createdAt ?? now,
    updatedAt: now,
    completedAt: done,
  }
  // Without undefined fields, as the store returns it.
  return JSON.parse(JSON.stringify(todo)) as Todo
}
