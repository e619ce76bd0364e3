export const todoPriorities = ["low", "medium", "high", "urgent"] as const
export const todoStatuses = ["pending", "in_progress", "completed"] as const

export interface TodoFields {
  readonly title: string
  readonly description?: string | undefined
  readonly priority: (typeof todoPriorities)[number]
  readonly status: (typeof todoStatuses)[number]
  /** What is said while it is being done: "Running the tests". */
  readonly activeForm?: string | undefined
  readonly assignee?: string | undefined
  /** Milliseconds since 1970. */
  readonly deadline?: number | undefined
  readonly tags?: readonly string[] | undefined
}

export interface Todo extends TodoFields {
  readonly id: string
  /** The agent whose list it is on. */
  readonly owner: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly completedAt?: number | undefined
}

/** What changes; what is left out stays as it is. */
export type TodoChange = { readonly [Field in keyof TodoFields]?: TodoFields[Field] | undefined }

/** Whose list: an agent has one for each of its tasks, and one for what belongs to none. */
export interface TodoOwner {
  readonly agentId: string
  readonly taskId?: string | undefined
}

/** What is to be done, in the order it was written down. Nobody reaches another owner's list. */
export interface Todos {
  list(owner: TodoOwner): Promise<Todo[]>
  /** Undefined when the list is full. */
  create(owner: TodoOwner, fields: TodoFields): Promise<Todo | undefined>
  /** Undefined when there is none with that id. */
  update(owner: TodoOwner, id: string, change: TodoChange): Promise<Todo | undefined>
  delete(owner: TodoOwner, id: string): Promise<Todo | undefined>
  /** The whole list anew. An item with the id, else with the title, of one that was there is the same one. */
  replace(
    owner: TodoOwner,
    items: readonly (TodoFields & { readonly id?: string | undefined })[],
  ): Promise<{ readonly before: Todo[]; readonly after: Todo[] }>
}

/** The most items of one list. */
export const mostTodos = 1000
