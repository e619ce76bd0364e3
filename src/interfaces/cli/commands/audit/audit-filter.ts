import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { AuditFilter } from "../../../../store/port.ts"
import { endings, ToolExecuteStatus } from "../../../../core/result.ts"
import type { CliContext } from "../../common/context.ts"
import { agentOfEntries } from "../../common/known-names.ts"
import { parseMoment } from "../../common/time-text.ts"
import { choiceFlag, wholeNumberFlag } from "../../common/usage.ts"

export interface AuditFlags {
  tool?: string
  task?: string
  status?: string
  since?: string
  until?: string
  limit?: string
}

/** Adds the options that filter calls. */
export function withFilterOptions(command: CliCommand): CliCommand {
  return command
    .option("--tool <name>", "only calls of one tool")
    .option("--task <id>", "only calls of one task")
    .option("--status <status>", `only calls with this status: ${statuses.join(", ")}, or a code such as timeout`)
    .option("--since <when>", "only calls since a date, or since 2h or 3d ago")
    .option("--until <when>", "only calls before a date, or before 2h or 3d ago")
}

/** The filter from the options. Here `--agent` filters the calls, see `wholeAgent`. */
export function filterOf({ flags: { agent } }: CliContext, given: AuditFlags): AuditFilter {
  const { tool, task } = given
  const status = choiceFlag("--status", given.status, [...statuses, ...Object.keys(endings)])
  const now = Date.now()
  const since = given.since === undefined ? undefined : parseMoment(given.since, now)
  const until = given.until === undefined ? undefined : parseMoment(given.until, now, "--until")
  const limit = wholeNumberFlag("--limit", given.limit)
  return {
    ...(agent === undefined ? {} : { agentId: agent }),
    ...(tool === undefined ? {} : { tool }),
    ...(task === undefined ? {} : { taskId: task }),
    ...(status === undefined ? {} : { status }),
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    ...(limit === undefined ? {} : { limit }),
  }
}

/** The filter with the whole id of the agent that its first characters mean. */
export function wholeAgent(context: CliContext, app: Pick<Quartermaster, "org">, filter: AuditFilter): AuditFilter {
  const agent = agentOfEntries(context, app)
  return agent === undefined ? filter : { ...filter, agentId: agent }
}

const statuses: readonly string[] = Object.values(ToolExecuteStatus)
