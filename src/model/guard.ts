import type { Reason } from "./record.ts"
import type { EndingCode } from "./result.ts"
import type { Touch, Touches } from "./rule.ts"

/**
 * What a guard says about a call before any rule is asked. A deny denies, an ask binds, and an allow leads from the level's
 * own ask to allow, as an allow rule does: it is what `tools.shell.allow`, `tools.hosts.allow` and `tools.allowedPaths` say.
 */
export interface Finding {
  readonly says: "deny" | "ask" | "allow"
  /** Its voice is `guard`; its source names the line of the configuration or the list; its sentence says which path, segment or host. */
  readonly reason: Reason
  /** The ending of a deny. */
  readonly code?: Extract<EndingCode, "path_outside_workspace" | "command_denied" | "host_denied" | "permission_denied">
}

/** What the guards found out about the touches of one call. */
export interface Looked {
  /** Everything that is touched: as the tool said it, where links lead, each segment of a command and the files it names. */
  readonly touches: Touches
  readonly findings: readonly Finding[]
}

/** What a guard is told besides the touches. */
export interface LookOptions {
  /** The only paths this call may use, where its request narrows the fence. */
  readonly allowedPaths?: readonly string[] | undefined
}

/** Looks at what a call touches. */
export interface Guards {
  /** What must be loaded before these can be looked at; undefined when nothing must. */
  ready(touches: readonly Touch[]): Promise<void> | undefined
  look(touches: readonly Touch[], options: LookOptions): Looked
}

/** One guard, for one kind of touch. `undefined` findings of several guards are put together by `policy/guards.ts`. */
export interface Guard {
  look(touches: readonly Touch[], options: LookOptions): GuardLook
}

export interface GuardLook {
  /** Touches to add: the real place of a path, the segments of a command and the files they name. */
  readonly more: readonly Touch[]
  /** False when it is not certain that these are all. */
  readonly proved: boolean
  readonly findings: readonly Finding[]
  /** Whether its allow list covers every touch it looked at; the finding says by which line. */
  readonly covers?: Reason | undefined
}
