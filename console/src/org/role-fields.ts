import type { RoleChangeBody, RolePageJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"

/** A role in the fields of the editor. An empty text is nothing; groups are null for all of them. */
export interface RoleFields {
  readonly rolePrompt: string
  readonly toolGroups: string[] | null
  readonly department: string
  readonly level: string
  readonly dialect: string
  readonly model: string
}

export function fieldsOf({ role }: Pick<RolePageJson, "role">): RoleFields {
  const text = (name: string) =>
    typeof role[name] === "string" || typeof role[name] === "number" ? String(role[name]) : ""
  return {
    rolePrompt: text("rolePrompt"),
    toolGroups: role.toolGroups,
    department: text("department"),
    level: text("level"),
    dialect: text("dialect"),
    model: text("llmServiceId"),
  }
}

/** The fields that differ from what was read. */
export function changeOf(begin: RoleFields, now: RoleFields): RoleChangeBody {
  const groups = (list: readonly string[] | null) => JSON.stringify(list?.toSorted() ?? null)
  const differs = (name: Exclude<keyof RoleFields, "toolGroups">) => begin[name] !== now[name]
  return {
    ...(differs("rolePrompt") ? { rolePrompt: now.rolePrompt } : {}),
    ...(groups(begin.toolGroups) === groups(now.toolGroups) ? {} : { toolGroups: now.toolGroups }),
    ...(differs("department") && now.department !== "" ? { department: now.department } : {}),
    ...(differs("level") && now.level !== "" ? { level: Number(now.level) } : {}),
    ...(differs("dialect") && now.dialect !== "" ? { dialect: now.dialect as "native" } : {}),
    ...(differs("model") ? { llmServiceId: now.model === "" ? null : now.model } : {}),
  }
}
