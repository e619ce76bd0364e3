import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import type { Tool } from "../../core/tool.ts"
import { createRole, type GroupList } from "./create-role.ts"
import { findRoleByName } from "./find-role-by-name.ts"
import { sendMessage } from "./send-message.ts"
import { spawnAgentWithTask } from "./spawn-agent-with-task.ts"
import { spawnAgent } from "./spawn-agent.ts"
import { terminateAgent } from "./terminate-agent.ts"

export const orgManagementTools = (book: OrganisationAdmin, groups: GroupList): Tool[] => [
  findRoleByName(book),
  createRole(book, groups),
  spawnAgent(book),
  spawnAgentWithTask(book),
  terminateAgent(book),
  sendMessage(book),
]
