import type { Ask } from "../../model/approval.ts"
import type { Tool } from "../../model/tool.ts"
import { askUser } from "./ask-user.ts"

export const interactionTools = (ask: Ask | undefined): Tool[] => [askUser(ask)]
