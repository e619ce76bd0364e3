import { realpathSync } from "node:fs"
import { resolve } from "node:path"
import type { CallSettings } from "../call/state/ports.ts"
import { defaults, type Config } from "./schema.ts"

/** The settings of the call lifecycle. `workspace` overrides the configured one; it is resolved to its real path. */
export function callSettings(config: Config, workspace: string | undefined): CallSettings {
  const { data, org, tools, approvals } = config
  return {
    durability: data?.durability ?? "crash",
    timeoutMs: tools?.timeout ?? defaults.tools.timeout,
    approvalDeadlineMs: (approvals?.deadline ?? defaults.approvals.deadline) * 60_000,
    maxWaiting: approvals?.maxWaiting ?? defaults.approvals.maxWaiting,
    unattended: approvals?.unattended ?? "wait",
    levelOrder: org?.levelOrder ?? "asc",
    askIntent: tools?.askIntent ?? defaults.tools.askIntent,
    language: config.language ?? defaults.language,
    workspace: realPath(workspace ?? config.workspace ?? tools?.workspaceDir ?? process.cwd()),
  }
}

/** Returns the limit of tools of one agent that run at the same time. */
export function concurrentToolLimit({ tools, agents }: Config): number {
  return Math.min(
    tools?.maxConcurrent ?? defaults.tools.maxConcurrent,
    agents?.maxConcurrentTools ?? defaults.agents.maxConcurrentTools,
  )
}

/** Returns the limits on the number and depth of agents that agents create. */
export function agentLimits({ agents = {} }: Config) {
  const { maxAgents = defaults.agents.maxAgents, maxDepth = defaults.agents.maxDepth } = agents
  return { maxAgents, maxDepth }
}

/** The limits of conversations with models. */
export function chainSettings({ agents = {} }: Config) {
  const {
    maxRounds = defaults.agents.maxRounds,
    maxCalls = defaults.agents.maxCalls,
    deadline = defaults.agents.deadline,
    keepDays = defaults.agents.keepDays,
    maxTokens,
    maxCost,
    maxTreeCalls,
    perAgent = {},
    budgetPerDay,
  } = agents
  const resumableMs = deadline * 60_000
  // As long as people may answer, there is a conversation to go on with.
  const keepMs = Math.max(resumableMs, keepDays * 24 * 60 * 60_000)
  const budget = { maxTokens, maxCost, maxCalls: maxTreeCalls }
  return { maxRounds, maxCalls, resumableMs, keepMs, budget, perAgent, budgetPerDay }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolve(folder)
  }
}
