/** The steps that every call takes, in this order. */
export const stepNames = ["resolve", "visible", "validate", "allowed", "approve", "run", "release"] as const
export type StepName = (typeof stepNames)[number]

/**
 * The state of a step: done, skipped (nobody had to be asked), waiting for a person, running, held (its result waits
 * for a person), not approved, refused, failed, or never reached.
 */
export type Tick = "done" | "skipped" | "waiting" | "running" | "held" | "no" | "refused" | "failed" | "open"
export type Ticks = Readonly<Record<StepName, Tick>>

/** The state of a call, or its ending. */
export interface CallFacts {
  readonly state: "running" | "waiting" | "held" | "ended"
  /** The code it ended with; undefined is a success. */
  readonly code?: string
  /** True if a person was asked before it ran. */
  readonly asked: boolean
  /** True if a person had to release the result. */
  readonly held: boolean
  /** False when it ended before the tool ran. */
  readonly ran?: boolean
}

const endsAt: Readonly<Record<string, readonly [StepName, Tick]>> = {
  unknown_tool: ["resolve", "failed"],
  key_conflict: ["resolve", "failed"],
  tool_not_available: ["visible", "refused"],
  frozen: ["visible", "refused"],
  invalid_arguments: ["validate", "failed"],
  permission_denied: ["allowed", "refused"],
  path_outside_workspace: ["allowed", "refused"],
  command_denied: ["allowed", "refused"],
  host_denied: ["allowed", "refused"],
  rate_limited: ["allowed", "refused"],
  approval_rejected: ["approve", "no"],
  approval_expired: ["approve", "no"],
  result_withheld: ["release", "no"],
}

/** The step at which a call ended, and how. Undefined is a call that took them all. */
export function endOf({ code, asked, ran }: CallFacts): readonly [StepName, Tick] | undefined {
  if (code === undefined) return undefined
  // Whatever the code says, a tool that ran ended there: a command may be denied while it runs.
  if (ran === true && code !== "result_withheld") return ["run", endsAt[code]?.[1] ?? "failed"]
  return endsAt[code] ?? [asked && ran === false ? "approve" : "run", "failed"]
}

/** The seven ticks of a call. */
export function ticksOf(facts: CallFacts): Ticks {
  const { state, asked, held } = facts
  const [last, how] = lastOf(facts)
  const place = stepNames.indexOf(last)
  const tick = (name: StepName, at: number): Tick => {
    if (at > place) return "open"
    if (at === place && how !== "done") return how
    if (name === "approve" && !asked) return "skipped"
    if (name === "release" && !held) return "skipped"
    return "done"
  }
  return Object.fromEntries(stepNames.map((name, at) => [name, tick(name, at)])) as Ticks

  function lastOf(call: CallFacts): readonly [StepName, Tick] {
    if (state === "waiting") return ["approve", "waiting"]
    if (state === "running") return ["run", "running"]
    if (state === "held") return ["release", "held"]
    return endOf(call) ?? ["release", "done"]
  }
}
