import type { Agent, AgentView, Role } from "../core/organisation.ts"
import { agentWithRole } from "./agents.ts"
import { AgentViews } from "./agent-views.ts"
import type { NewRole } from "./organisation-admin.ts"
import { roleFields } from "./role-fields.ts"
import { changeableRole, refuseTakenName } from "./roles.ts"
import type { OrganisationContext } from "./write-document.ts"

/** The organisation as it would be with a role changed, or an agent's role. Nothing is stored. */
export interface RolePreview {
  /** Returns the view that an agent would have. */
  view(agentId: string): AgentView | undefined
  /** The view that a new agent of the role would have. */
  newAgent: AgentView
}

/** The id of an agent that nobody has: it is not a valid one. */
const nobody = " "

const made = { createdBy: "", madeBy: "person", createdAt: "" } as const

/** A change of a role, or a new role where no id is given, as saving would make it. Throws where saving would be refused. */
export function previewRole(
  context: OrganisationContext,
  id: string | undefined,
  change: Partial<NewRole>,
): RolePreview {
  const { roster, levelOrder, defaultToolGroups } = context
  const { fields } = roleFields(context, change, undefined)
  const before: Role =
    id === undefined
      ? { id: nobody, name: nobody, rolePrompt: "", status: "active", llmServiceId: null, toolGroups: null, ...made }
      : changeableRole(context, id, { kind: "person", id: "" })
  const role: Role = { ...before, ...fields }
  refuseTakenName(context, role)
  return viewsWith({ roster, levelOrder, defaultToolGroups }, role)
}

/** An agent with another role. Throws where giving it would be refused. */
export function previewAgentRole(context: OrganisationContext, id: string, roleName: string): RolePreview {
  const { agent, role } = agentWithRole(context, id, roleName)
  return viewsWith(context, role, agent)
}

/** Returns the view that a new agent of a role has now. */
export function viewOfRole(context: OrganisationContext, role: Role): AgentView {
  return viewsWith(context, role).newAgent
}

function viewsWith(
  { roster, levelOrder, defaultToolGroups }: Pick<OrganisationContext, "roster" | "levelOrder" | "defaultToolGroups">,
  role: Role,
  changedAgent?: Agent,
): RolePreview {
  const agent: Agent = { id: nobody, roleId: role.id, status: "active", ...made }
  const changed = {
    agent: (id: string) => (id === nobody ? agent : id === changedAgent?.id ? changedAgent : roster.agent(id)),
    role: (id: string) => (id === role.id ? role : roster.role(id)),
    freeze: (id: string) => (id === nobody ? undefined : roster.freeze(id)),
  }
  const views = new AgentViews(changed, levelOrder, defaultToolGroups)
  return { view: (agentId) => views.view(agentId), newAgent: views.view(nobody)! }
}
