import type { AgentView } from "../../core/organisation.ts"
import type { LevelOrder } from "../../core/permission.ts"
import { defineCheck, deny } from "../check.ts"
import { agentLine, permissionLine, roleFix } from "../fix-text.ts"

/** The tool's `minLevel` against the agent's level. With `org.levelOrder: desc` a smaller level has more rights. */
export const minLevelCheck = defineCheck({
  name: "level",
  stage: "visible",
  source: ({ tool }) => tool.permissionSources?.minLevel ?? tool.id,
  look({ tool: { name, permission }, who, levelOrder }) {
    const { minLevel } = permission
    if (minLevel === undefined || isEnough(who.level, minLevel, levelOrder)) return undefined
    const code = levelOrder === "asc" ? "level_below_minimum" : "level_above_maximum"
    return deny(code, { level: who.level, limit: minLevel }, { fix: () => fixFor(name, minLevel, who, levelOrder) })
  },
  sentences: {
    level_below_minimum: {
      en: ({ level, limit }: { level: number; limit: number }) => `Level ${level} below minimum ${limit}`,
      zh: "级别 {level} 低于最低要求 {limit}。",
    },
    level_above_maximum: {
      en: ({ level, limit }: { level: number; limit: number }) => `Level ${level} above maximum ${limit}`,
      zh: "级别 {level} 高于上限 {limit}。",
    },
  },
  passes: {
    en: ({ tool, who }) =>
      tool.permission.minLevel === undefined ? "The tool needs no level." : `Level ${who.level} is enough.`,
    zh: "级别符合要求。",
  },
})

function isEnough(level: number, limit: number, order: LevelOrder): boolean {
  return order === "asc" ? level >= limit : level <= limit
}

/** None when the agent's own level is enough: then an agent above holds it down, and the parent check says so. */
function fixFor(tool: string, limit: number, { agent, role, level }: AgentView, order: LevelOrder): string | undefined {
  const own = agent.level ?? role.level
  if (own !== undefined && isEnough(own, limit, order)) return undefined
  if (agent.level === undefined) return roleFix(role, { level: limit })
  return agent.madeBy === "configuration" ? agentLine(agent, { level: limit }) : permissionLine(tool, "minLevel", level)
}
