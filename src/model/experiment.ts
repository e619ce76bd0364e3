import type { AuditFilter } from "./ports.ts"

/** Two versions of a tool side by side: each agent is given one of them, always the same. */
export interface Experiment {
  readonly name: string
  readonly tool: string
  readonly versions: readonly [string, string]
  /** The share of agents that are given the second version. */
  readonly share: number
  /** Where it is written: the configuration, or the store. */
  readonly source: "configuration" | "store"
  readonly state: "running" | "stopped"
  /** For one of the store. */
  readonly startedAt?: number | undefined
  readonly startedBy?: string | undefined
  readonly stoppedAt?: number | undefined
  readonly stoppedBy?: string | undefined
  /** Why nobody is given either version by it, though it runs; a sentence. */
  readonly problem?: string | undefined
}

/** What the record says of one version. Only calls of agents that were given it by the experiment count. */
export interface ExperimentArm {
  readonly version: string
  readonly agents: number
  /** Calls that reached the tool. */
  readonly calls: number
  readonly failures: number
  /** Calls that ended before the tool ran, or by a person's word. */
  readonly refused: number
  readonly averageMs: number | null
  readonly medianMs: number | null
  readonly slowestMs: number | null
}

export interface ExperimentReport extends Experiment {
  readonly arms: readonly [ExperimentArm, ExperimentArm]
  /** Calls of these versions by agents that have them otherwise: by a pin, or because they asked. */
  readonly otherwise: number
}

export interface ExperimentBook {
  list(): readonly Experiment[]
  /** Rejects with a sentence when it cannot be started. */
  start(
    given: { name: string; tool: string; versions: readonly [string, string]; share?: number | undefined },
    by: string,
  ): Promise<Experiment>
  /** Undefined when none of that name runs. */
  stop(name: string, by: string): Promise<Experiment | undefined>
  /** Counted from the record, since it started. */
  show(name: string, filter?: Pick<AuditFilter, "since" | "until">): Promise<ExperimentReport | undefined>
}
