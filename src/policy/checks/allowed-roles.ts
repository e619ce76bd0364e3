import { defineCheck, deny } from "../check.ts"
import { listed, permissionLine } from "../fix-text.ts"

/**
 * The tool's `allowedRoles`: names or ids of roles, in any case. A role that an agent made has whatever name that agent
 * chose, so its name gives no right.
 */
export const allowedRolesCheck = defineCheck({
  name: "role",
  stage: "visible",
  source: ({ tool }) => tool.permissionSources?.allowedRoles ?? tool.id,
  look({ tool: { name, permission }, who: { role } }) {
    const { allowedRoles } = permission
    if (allowedRoles.length === 0) return undefined
    const own = [role.id.toLowerCase(), role.name.toLowerCase()]
    const isNamed = allowedRoles.some((allowed) => own.includes(allowed.toLowerCase()))
    if (isNamed && role.madeBy !== "agent") return undefined
    const fix = () =>
      role.madeBy === "agent"
        ? `Use an agent whose role a person made: ${listed(allowedRoles)}`
        : permissionLine(name, "allowedRoles", [...allowedRoles, role.name])
    return deny(isNamed ? "role_made_by_agent" : "role_not_allowed", { role: role.name }, { fix })
  },
  sentences: {
    role_not_allowed: {
      en: ({ role }: { role: string }) => `Role ${role} not in allowed roles`,
      zh: "岗位 {role} 不在允许的岗位之列。",
    },
    role_made_by_agent: {
      en: ({ role }: { role: string }) => `Role ${role} not in allowed roles: it was made by an agent`,
      zh: "岗位 {role} 不在允许的岗位之列：它由智能体创建。",
    },
  },
  passes: {
    en: ({ tool }) =>
      tool.permission.allowedRoles.length === 0 ? "The tool is open to every role." : "The tool is open to this role.",
    zh: "工具对其岗位开放。",
  },
})
