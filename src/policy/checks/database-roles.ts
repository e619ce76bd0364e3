import { defineCheck, deny } from "../check.ts"
import { listed } from "../fix-text.ts"
import { hasRole } from "../has-role.ts"

/** The `roles` of a database: only their agents may use it, and nobody below an agent without them. */
export const databaseRolesCheck = defineCheck({
  name: "database",
  stage: "deny",
  source: () => "databases",
  look: ({ touches, who }) =>
    touches.list
      .filter(({ roles }) => roles !== undefined && !hasRole(who, roles))
      .map(({ what: database, roles = [] }) =>
        deny(
          "database_not_allowed",
          { database, role: who.role.name },
          {
            source: `databases.${database}.roles`,
            fix: () => `databases.${database}.roles: [${listed([...roles, who.role.name])}]`,
          },
        ),
      ),
  sentences: {
    database_not_allowed: {
      en: ({ database, role }: { database: string; role: string }) =>
        `Role ${role} may not use the database ${database}.`,
      zh: "岗位 {role} 不可使用数据库 {database}。",
    },
  },
})
