import type { Todos } from "../../store/todo-store.ts"
import type { Tool } from "../../core/tool.ts"
import { todoWrite } from "./todo-write.ts"

export const todoTools = (todos: Todos): Tool[] => [todoWrite(todos)]
