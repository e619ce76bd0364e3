import type { Todos } from "../../model/todos.ts"
import type { Tool } from "../../model/tool.ts"
import { todoWrite } from "./todo-write.ts"

export const todoTools = (todos: Todos): Tool[] => [todoWrite(todos)]
