import type { CancelSignal } from "../lib/stop.ts"
import type { AnswerValue, ApprovalUIAdapter, Question, Vote } from "./approval.ts"
import type { ToolPermissionLevel } from "./permission.ts"
import type { Sentence, StoredReason } from "./reason.ts"
import type { Preview } from "./preview.ts"
import type { CommandPart } from "./guard.ts"
import type { HandedOver, ToolResult } from "./result.ts"
import type { Approvers, GrantScope } from "./rule.ts"
import type { FileSizes, Touches } from "./touches.ts"
import type { TypedTool } from "./tool.ts"

/**
 * A request to call a tool.
 *
 * ```ts
 * const result = await app.call({ agentId: "dev", tool: "greet", input: { name: "Ada" } })
 * ```
 */
export interface CallRequest {
  agentId: string
  tool: string
  input: unknown
  /**
   * Idempotency key, chosen by the caller. Within 24 hours the same agent, session, key, tool and input mean the same
   * call: it runs once and every request gets its result.
   */
  key?: string
  taskId?: string
  userId?: string
  sessionId?: string
  parentCallId?: string
  /** The id of the distributed trace this call belongs to, for the audit log. */
  traceId?: string
  /** True when the agent's sessions are short: while this call waits, the same call from another session joins it. */
  anySession?: boolean
  /** The token that authenticated the request. Revoking it ends the call while it waits. */
  tokenId?: string
  timeoutMs?: number
  /**
   * Why the agent makes the call, in a sentence of its own. People who approve the call see the first 200 characters as
   * the agent's unverified words. It decides nothing.
   */
  intent?: string
  /** The only paths this call may use. Narrows the file roots, never widens them. */
  allowedPaths?: readonly string[]
  /**
   * The call belongs to a stored conversation that can be resumed until then, in milliseconds since 1970: so long
   * people may take to answer, and so long their answer counts.
   */
  resumableUntil?: number
  /** Have a person release the result before the caller gets it, even if neither tool nor rules ask for that. */
  holdResult?: boolean
  /**
   * The agent loop itself asks people by this call. Its own tools, such as `agents:budget`, can be called in no other
   * way.
   */
  fromLoop?: boolean
  /**
   * The caller runs the tool itself, once the call is let through, and reports what came of it. The hooks of coding
   * agents call so.
   */
  elsewhere?: Elsewhere
  /** Asked before each call that its tool makes, also through other tools. False refuses that call. */
  takeSubCall?: () => boolean
  /** Cancels the call. */
  signal?: CancelSignal
  /** The program that made the call, where it can be asked questions. Sub-calls have the same caller. */
  caller?: Caller
}

/** A program that runs its own tools, and asks before each run. */
export interface Elsewhere {
  /** The program, as the table of its tools is called: `claude`, for example. */
  client: string
  /** The program's own id of the call, where it has one. */
  callId?: string
  /** The folder that relative paths begin in; the workspace when left out. */
  cwd?: string
  /** Time limit of a run. After it the call ends with `unknown_outcome`. */
  limitMs: number
  /** True where the program may ask its own person instead, if neither the verdict nor the risk is against it. */
  mayAsk?: boolean
}

/** A caller's report on a tool that it ran itself. */
export type ReportedOutcome = { value: unknown } | { failed: string }

/** A call that was let through and whose caller has not reported yet. */
export interface RunningElsewhere {
  callId: string
  agentId: string
  tool: string
  /** The tool's name and the call's id in the program that runs it. */
  calledAs: string
  id: string | undefined
  until: number
  run: HandedOver
}

/**
 * A request that names a tool by the tool itself, so that its input and result are typed.
 *
 * ```ts
 * const result = await app.call({ agentId: "dev", tool: greet, input: { name: "Ada" } })
 * ```
 */
export interface TypedCallRequest<Input, Output> extends Omit<CallRequest, "tool" | "input"> {
  tool: TypedTool<Input, Output>
  input: NoInfer<Input>
}

/** The program that made a call, as far as it can be asked or told something while the call runs. */
export interface Caller {
  /** Asks the person at that program. Set only by interfaces that know who the person is and report it in `by`. */
  approvalUI?: Partial<ApprovalUIAdapter>
  /**
   * Sends the program a request in its own protocol (MCP, for example). Never used for approvals. `key` is the asker's
   * own name for the request.
   */
  sendRequest?(method: string, params: unknown, signal: AbortSignal, key?: string): Promise<unknown>
  /** The requests another server may make within this call. Default: all that the configuration allows. */
  able?: { readonly elicitation: boolean; readonly sampling: boolean; readonly roots: boolean }
  /**
   * Called with each piece of output of this call and its sub-calls, except output that a person may still withhold.
   */
  onOutput?(chunk: unknown): void
  /** Called when this call, or a sub-call, begins to wait for a person. */
  onWaiting?(waiting: { callId: string; tool: string; until: number }): void
}

/** The states of a call, in order. Most calls skip those in the middle. */
export const callStates = ["received", "decided", "waiting", "ready", "started", "held", "released", "ended"] as const
export type CallState = (typeof callStates)[number]

/** A stored call. Calls are stored when they wait for approval, when their result is held, or when they have a key. */
export interface CallRow {
  id: string
  state: CallState
  /** The process that works on it, and how often it was claimed. */
  owner: string
  epoch: number
  agentId: string
  sessionId: string
  key: string | null
  tool: string
  definitionHash: string
  /** Canonical JSON of the raw input. Erased when the call ends, or when its key expires. */
  input: string | null
  inputDigest: string
  /** The request without input and signal, as JSON. */
  request: string
  /** The reasons an approver must approve. */
  asks: readonly StoredReason[]
  card: ApprovalCard
  /** Grows when the input is edited or the reasons change. An answer counts for one revision only. */
  revision: number
  votes: readonly Vote[]
  /** True if a ticket was issued, so that the caller may still come back for the result. */
  wanted: boolean
  /** The workspace of the process that created it. */
  workspace: string
  preview: Preview | null
  deadline: number | null
  answer: SettledAnswer | null
  /** The result, when it is held or the call has a key. */
  result: ToolResult | null
  createdAt: number
  updatedAt: number
}

/** The calls of a session that nobody wants any more. */
export interface UnwantedCalls {
  sessionId: string
  agentId: string
  /** Why, as a sentence. */
  because: string
  /** The keys of those whose results are asked for. */
  keys: readonly string[]
}

/** The card that approvers are shown and that their answer is bound to. */
export interface ApprovalCard {
  role: string
  /** The agent that created the role, where no person did. */
  roleMadeBy?: string
  /** The ids of the agents above it, nearest first. */
  spawners: readonly string[]
  description: string
  level: ToolPermissionLevel
  /** SHA-256 of the canonical input that is shown. */
  inputDigest: string
  touches: Touches
  /** Digests of the files the call names, by path. */
  files: Readonly<Record<string, string>>
  /** The present sizes of the files that the call writes or deletes, by path. Older cards have none. */
  sizes?: FileSizes
  /** The hosts among the touches that no call had reached. Older cards have none. */
  newHosts?: readonly string[]
  /** The parts of its commands, as the guard read them. Older cards have none. */
  commandParts?: readonly CommandPart[]
  question?: Question
  approvers: readonly Approvers[]
  remember: readonly GrantScope[]
  /** For a sensitive tool: what the rule is about that the user of this machine may add. */
  ruleTouching?: readonly string[]
  editedBy?: string
  /** Why approval is asked for again, and the same in parts that can be translated. Older cards have only the text. */
  note?: string
  again?: readonly Sentence[]
}

/** Reports whether the tool of a stored call has run, so that only its result is left to release. */
export function hasRun(row: CallRow | undefined): boolean {
  return row?.state === "held" || row?.state === "released"
}

/** The change that erases the input of an ended call, and everything that may repeat parts of it. */
export function erasedFields({ card }: Pick<CallRow, "card">) {
  const touches = { list: [], proved: card.touches.proved }
  const erased = { touches, files: {}, sizes: undefined, newHosts: undefined, commandParts: undefined }
  return { input: null, preview: null, asks: [], card: { ...card, ...erased, ruleTouching: undefined } }
}

/** The final answer to a waiting call or a held result. */
export interface SettledAnswer {
  approved: boolean
  by: string
  at: number
  /** It came from an answer link. */
  via?: "link"
  rejectReason?: string
  /** The approvers' message to the model. */
  note?: string
  /** For an edit: the new input, which is checked and put up for approval again. */
  edit?: { input: unknown }
  /** For a released result: JSON pointers to remove, or the value that replaces it. */
  redact?: readonly string[]
  replace?: { value: unknown }
  /** For a question. */
  value?: AnswerValue
  /** True if it is in the audit log already. */
  written?: boolean
}

let today = { day: 0, text: "" }

/** A call without a session belongs to one session per agent and day. */
export function dailySession(agentId: string, at: number): string {
  const day = Math.floor(at / 86_400_000)
  if (day !== today.day) today = { day, text: new Date(at).toISOString().slice(0, 10) }
  return `${agentId}/${today.text}`
}
