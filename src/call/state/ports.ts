import type { ApprovalPorts } from "../../approvals/queue/ports.ts"
import type { DecisionPorts } from "../../policy/decide/ports.ts"
import type { CancelSignal } from "../../lib/stop.ts"
import type { CallRow } from "../../core/call.ts"
import type { Asker } from "../../approvals/queue/askers.ts"
import type { PendingItem } from "../../core/approval.ts"
import type { EventType } from "../../core/events.ts"
import type { Language } from "../../core/language.ts"
import type { Logger } from "../../core/logger.ts"
import type { LevelOrder } from "../../core/permission.ts"
import type { FileSizes, Touches } from "../../core/touches.ts"
import type { Durability } from "../../core/reason.ts"
import type { Ending } from "../../core/ending.ts"
import type { Artifacts, Limits } from "../../store/port.ts"

/** Everything the steps of a call need from other parts. `src/app` puts it together. */
export interface Ports extends ApprovalPorts, DecisionPorts {
  /** Results of tools with `cache`. Losing one costs a run, nothing else. */
  cache: ResultCache
  limits: Limits
  permits: Permits
  /** Notes what calls change that nobody was asked about. */
  undo: {
    before(callId: string): Promise<void>
    after(callId: string, only?: readonly string[]): Promise<readonly string[]>
  }
  artifacts: Artifacts
  /** The person at this process who is asked about such an item. Without one, it waits in the approval queue. */
  findAsker(kind: PendingItem["kind"]): Asker | undefined
  /** Reports whether the token exists and is neither revoked nor expired. */
  isTokenValid(tokenId: string): boolean
  /** Reports whether there are listeners, so that events without any need not be built. */
  hasListeners(type: EventType): boolean
  /** The calls whose tools are running, each with a function that cancels it. `input` is as the audit log shows it. */
  running: Map<string, RunningCall & { cancel(because?: Ending): void }>
  /**
   * Aborted when the app closes: nothing starts any more, and calls that wait for a person stay in the approval queue.
   */
  closing: AbortSignal
  logger: Logger
  settings: CallSettings
  /** The name of this process as the owner of calls. */
  owner: string
  /** SHA-256 of the files a call names, by path. A missing file has a fixed text in place of a hash. */
  digests(touches: Touches): Promise<Readonly<Record<string, string>>>
  /** Returns the files that exist now at each path that a call writes. */
  fileSizes(touches: Touches): Promise<FileSizes>
  /** Returns those of these hosts that no call has reached yet. */
  newHosts(hosts: readonly string[]): Promise<readonly string[]>
  /** The versions of all touched files as one text. Undefined when one of them is not a regular file. */
  fileVersions(touches: Touches): string | undefined
  /** Reads rules, grants and other documents that other processes changed. Returns whether there were any. */
  refresh(): Promise<boolean>
  /** Sends the configured notifications that something waits for a person. */
  notify(row: CallRow): void
  /** Tells the host that something waits and this process asks nobody about it. */
  tellUnasked(row: CallRow): void
}

/** A call whose tool runs in this process. */
export interface RunningCall {
  agentId: string
  tool: string
  input: string
  since: number
}

/** Results by a key made of tool, input and file versions. */
export interface ResultCache {
  get(key: string, at: number): { value: unknown } | undefined
  set(key: string, value: unknown, until: number): void
}

export interface CallSettings {
  /** True if the host gets results that a person withheld. */
  keepWithheld?: boolean
  durability: Durability
  /** The time limit of tools that set none. */
  timeoutMs: number
  approvalDeadlineMs: number
  /** Limit of calls of one agent that wait for people at the same time. */
  maxWaiting: number
  /** The policy for when no one is there to answer: wait for the deadline, or reject at once. */
  unattended: "wait" | "reject"
  levelOrder: LevelOrder
  /** True if models are asked why they make a call. */
  askIntent: boolean
  language: Language
  /** The folder this process works in. Grants and waiting calls belong to one workspace. */
  workspace: string
}

/** Limits how many tools run at once. A permit is held while `execute` runs, not while a call waits for a person. */
export interface Permits {
  acquire(request: {
    agentId: string
    callId: string
    exclusive: boolean
    /** True for composite and interactive tools: they take no permit, but an exclusive one still waits its turn. */
    free: boolean
    parentCallIds: readonly string[]
    signal: CancelSignal | undefined
  }): Permit | Promise<Permit>
}
export interface Permit {
  /** The call began (+1) or stopped (-1) waiting for another call or a person. Meanwhile another call may run. */
  changeWaiting(change: 1 | -1): void
  release(): void
}
