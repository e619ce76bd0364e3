import type { AuditFilter } from "../store/port.ts"

/** An A/B test of two versions of a tool. Each agent always gets the same version. */
export interface Experiment {
  readonly name: string
  readonly tool: string
  readonly versions: readonly [string, string]
  /** The share of agents that get the second version, from 0 to 1. */
  readonly share: number
  /** The source of its definition. */
  readonly source: "configuration" | "store"
  readonly state: "running" | "stopped"
  /** These four only for an experiment in the store. */
  readonly startedAt?: number
  readonly startedBy?: string
  readonly stoppedAt?: number
  readonly stoppedBy?: string
  /** Why it has no effect although it runs, as a sentence. */
  readonly problem?: string
}

/** One version's numbers from the audit log. Only calls of agents that the experiment gave this version count. */
export interface ExperimentArm {
  readonly version: string
  readonly agents: number
  /** Calls that ran the tool. */
  readonly calls: number
  readonly failures: number
  /** Calls that ended before the tool ran, or that a person rejected or withheld. */
  readonly refused: number
  readonly averageMs: number | null
  readonly medianMs: number | null
  readonly slowestMs: number | null
}

export interface ExperimentReport extends Experiment {
  readonly arms: readonly [ExperimentArm, ExperimentArm]
  /** Calls of these versions by agents that got them in another way, such as a pin. */
  readonly otherwise: number
}

/** The experiments of a running app. */
export interface Experiments {
  list(): readonly Experiment[]
  /** Rejects with a sentence when it cannot be started. */
  start(
    given: { name: string; tool: string; versions: readonly [string, string]; share?: number },
    by: string,
  ): Promise<Experiment>
  /** Undefined when no experiment of that name runs. */
  stop(name: string, by: string): Promise<Experiment | undefined>
  /** The numbers since it started, counted from the audit log. */
  show(name: string, filter?: Pick<AuditFilter, "since" | "until">): Promise<ExperimentReport | undefined>
}
