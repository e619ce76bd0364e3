import type { Tool } from "../../core/tool.ts"
import { askUser } from "./ask-user.ts"

export const interactionTools = (): Tool[] => [askUser()]
