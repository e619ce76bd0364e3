import type { Command } from "commander"
import type { AuditFilter } from "../model/ports.ts"
import { endings, ToolExecuteStatus } from "../model/result.ts"
import type { Session } from "./house.ts"
import { readSince } from "./since.ts"
import { oneOf, wholeNumber } from "./usage.ts"

export interface AuditFlags {
  tool?: string
  status?: string
  since?: string
  until?: string
  limit?: string
}

/** The flags that choose calls. */
export function filtered(command: Command): Command {
  return command
    .option("--tool <name>", "only calls of one tool")
    .option("--status <status>", `only calls that ended so: ${statuses.join(", ")}, or a code such as timeout`)
    .option("--since <when>", "only calls since a date, or a time back such as 2h or 3d")
    .option("--until <when>", "only calls before a date, or a time back such as 2h or 3d")
}

/** What they choose. Here `--agent` is whose calls, not who looks. */
export function filterOf({ flags: { agent } }: Session, given: AuditFlags): AuditFilter {
  const { tool } = given
  const status = oneOf("--status", given.status, [...statuses, ...Object.keys(endings)])
  const now = Date.now()
  const since = given.since === undefined ? undefined : readSince(given.since, now)
  const until = given.until === undefined ? undefined : readSince(given.until, now, "--until")
  const limit = wholeNumber("--limit", given.limit)
  return {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(tool === undefined ? {} : { tool }),
    ...(status === undefined ? {} : { status }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(limit === undefined ? {} : { limit }),
  }
}

const statuses: readonly string[] = Object.values(ToolExecuteStatus)
