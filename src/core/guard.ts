import type { Reason } from "./reason.ts"
import type { EndingCode } from "./result.ts"
import type { Touch, Touches } from "./touches.ts"

/**
 * A guard's verdict about a call. A deny is final, and an ask can only be answered by a person. An allow replaces the
 * ask that the tool's level causes, like an allow rule; it comes from `tools.shell.allow`, `tools.hosts.allow` or shell
 * mode `sandbox`.
 */
export interface Finding {
  readonly verdict: "deny" | "ask" | "allow"
  /**
   * Its check is `guard`, its source the configuration key or list, and its sentence names the path, segment or host.
   */
  readonly reason: Reason
  /**
   * The command runs inside bubblewrap, so its touches need not be proved. An allow has no effect when the tool
   * sets `requireExecutionApproval` or `requireConfirmation`, nor for unproved touches that a rule with `touching` may
   * apply to.
   */
  readonly sandboxed?: boolean
  /** For an ask: an allow rule lifts it, as it lifts the ask of the tool's level. */
  readonly isLiftable?: boolean
  /** The ending of a deny. */
  readonly code?: Extract<EndingCode, "path_outside_workspace" | "command_denied" | "host_denied" | "permission_denied">
}

/** The guards' findings about the touches of one call. */
export interface CheckedTouches {
  /**
   * Everything the call touches: what the tool listed, the targets of links, each segment of a command and its files.
   */
  readonly touches: Touches
  readonly findings: readonly Finding[]
}

/** The arguments of a guard besides the touches. */
export interface GuardCheckOptions {
  /** The only paths this call may use, when its request narrows the file roots. */
  readonly allowedPaths?: readonly string[]
}

/** Options for judging the paths in an input, of a tool that does not declare its touches. */
export interface NamedPathOptions {
  /** Folders in which relative paths may begin, besides the workspace. */
  readonly folders: readonly string[]
  /** True if the tool is trusted to only read. */
  readonly onlyReads: boolean
}

/** All guards together. */
export interface Guards {
  /** Loads what is needed to check these touches. Undefined when nothing must be loaded. */
  ready(touches: readonly Touch[]): Promise<void> | undefined
  check(touches: readonly Touch[], options: GuardCheckOptions): CheckedTouches
  /** Judges the paths that the input of a tool names, which does not say what it touches. */
  checkInput(input: unknown, options: NamedPathOptions): readonly Finding[]
  /**
   * The words by which a rule may name this command and others like it; undefined when only the exact line may be
   * named.
   */
  commandStem(line: string): string | undefined
  /** The parts of a command and what each does. The parsers must be loaded. */
  commandParts(touch: Touch): readonly CommandPart[]
  /** The files in the workspace that decide what a command does, such as its scripts. The parsers must be loaded. */
  commandFiles(touch: Touch): readonly string[]
}

/** One simple command of a shell script, as an approver sees it. */
export interface CommandPart {
  /** The operator that joins it to the part before: `&&`, `||`, `|`, `;`, or nothing. */
  readonly operator: string
  readonly text: string
  /** Files, relative to the workspace. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  /** The paths it deletes. Empty when it deletes unknown paths; undefined when it deletes nothing. */
  readonly deletes?: readonly string[]
  /** True if the program may use the network. */
  readonly network: boolean
  /** True if the program may send files or texts to another machine. */
  readonly sendsOut?: boolean
  /** Why it is not certain what it does; the text continues a sentence after "because". */
  readonly unproved?: string
}

/** One guard, for one kind of touch. */
export interface Guard {
  check(touches: readonly Touch[], options: GuardCheckOptions): GuardResult
}

export interface GuardResult {
  /** Touches to add: the real path behind a link, the segments of a command and the files they name. */
  readonly extraTouches: readonly Touch[]
  /** False when the list may be incomplete. */
  readonly proved: boolean
  readonly findings: readonly Finding[]
  /** Set when its allow list covers every touch it checked: the line of the list. */
  readonly allowedBy?: Reason
  /** True when it is allowed because bubblewrap holds it, proved or not. */
  readonly sandboxed?: boolean
}
