import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import type { WalkSettings } from "../model/ports.ts"
import { defaults, type Config } from "./schema.ts"

/** What the walk is told of the configuration. The workspace is the folder that was given, else the configured one, by its real path. */
export function walkSettings(config: Config, workspace: string | undefined): WalkSettings {
  const { data, org, tools, approvals } = config
  return {
    durability: data?.durability ?? "crash",
    timeoutMs: tools?.timeout ?? defaults.tools.timeout,
    approvalDeadlineMs: (approvals?.deadline ?? defaults.approvals.deadline) * 60_000,
    unattended: approvals?.unattended ?? "wait",
    levelOrder: org?.levelOrder ?? "asc",
    workspace: realPath(workspace ?? config.workspace ?? tools?.workspaceDir ?? process.cwd()),
  }
}

/** How many tools of one agent run at the same time. */
export function mostAtOnce({ tools, agents }: Config): number {
  return Math.min(
    tools?.maxConcurrent ?? defaults.tools.maxConcurrent,
    agents?.maxConcurrentTools ?? defaults.agents.maxConcurrentTools,
  )
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}
