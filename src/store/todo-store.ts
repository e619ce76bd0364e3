export const todoPriorities = ["low", "medium", "high", "urgent"] as const
export const todoStatuses = ["pending", "in_progress", "completed"] as const

export interface TodoFields {
  readonly title: string
  readonly description?: string
  readonly priority: (typeof todoPriorities)[number]
  readonly status: (typeof todoStatuses)[number]
  /** Its name while it is in progress: "Running the tests". */
  readonly activeForm?: string
  readonly assignee?: string
  /** Milliseconds since 1970. */
  readonly deadline?: number
  readonly tags?: readonly string[]
}

export interface Todo extends TodoFields {
  readonly id: string
  /** The agent whose list it is on. */
  readonly owner: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly completedAt?: number
}

/** A change. Fields that are left out stay as they are. */
export type TodoChange = { readonly [Field in keyof TodoFields]?: TodoFields[Field] }

/** The owner of a list. An agent has one list per task, and one without a task. */
export interface TodoOwner {
  readonly agentId: string
  readonly taskId?: string
}

/** Task lists, in the order of creation. An agent cannot reach another owner's list. */
export interface Todos {
  list(owner: TodoOwner): Promise<Todo[]>
  /** Undefined when the list is full. */
  create(owner: TodoOwner, fields: TodoFields): Promise<Todo | undefined>
  /** Undefined when there is no item with that id. */
  update(owner: TodoOwner, id: string, change: TodoChange): Promise<Todo | undefined>
  delete(owner: TodoOwner, id: string): Promise<Todo | undefined>
  /** Replaces the whole list. An item with the id or, failing that, the title of an existing one updates that one. */
  replace(
    owner: TodoOwner,
    items: readonly (TodoFields & { readonly id?: string })[],
  ): Promise<{ readonly before: Todo[]; readonly after: Todo[] }>
}

/** The most items of one list. */
export const maxTodos = 1000
