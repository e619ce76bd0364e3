import type { Tool } from "../../model/tool.ts"
import { askUser } from "./ask-user.ts"

export const interactionTools = (): Tool[] => [askUser()]
