import type { Command } from "commander"
import type { AuditFilter } from "../model/ports.ts"
import { ToolExecuteStatus } from "../model/result.ts"
import type { Session } from "./house.ts"
import { readSince } from "./since.ts"
import { UsageError, wholeNumber } from "./usage.ts"

export interface AuditFlags {
  tool?: string
  status?: string
  since?: string
  limit?: string
}

/** The flags that choose calls. */
export function filtered(command: Command): Command {
  return command
    .option("--tool <name>", "only calls of one tool")
    .option("--status <status>", `only calls that ended so: ${statuses.join(", ")}`)
    .option("--since <when>", "only calls since a date, or a time back such as 2h or 3d")
}

/** What they choose. Here `--agent` is whose calls, not who looks. */
export function filterOf({ flags: { agent } }: Session, { tool, status, since, limit }: AuditFlags): AuditFilter {
  if (status !== undefined && !statuses.includes(status)) {
    throw new UsageError(`--status takes one of ${statuses.join(", ")}, and '${status}' is none of them.`)
  }
  const at = since === undefined ? undefined : readSince(since, Date.now())
  const most = wholeNumber("--limit", limit)
  return {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(tool === undefined ? {} : { tool }),
    ...(status === undefined ? {} : { status }),
    ...(at === undefined ? {} : { since: at }),
    ...(most === undefined ? {} : { limit: most }),
  }
}

const statuses: readonly string[] = Object.values(ToolExecuteStatus)
