import type { EndingCode } from "../../core/result.ts"
import type { ToolCallHistoryEntry, ToolChainResult } from "../chain/chain-result.ts"
import type { ReflectedAction, Reflection } from "../reflection/reflector.ts"

/** One step of a plan: a tool call, or something that a model does with the agent's tools. */
export type PlanStep = ToolCallStep | ChainStep

interface AnyStep {
  /** Names the step for `needs` of others, once in a plan. */
  id: string
  /** Its purpose. Approvers of a call see it as the agent's own words. */
  description?: string
  /** The steps whose results it needs, by their ids. */
  needs?: readonly string[]
}

export interface ToolCallStep extends AnyStep {
  actionType: "tool_call"
  toolName: string
  params: unknown
}

export interface ChainStep extends AnyStep {
  actionType: "chain"
  /** The text that the model is told. */
  prompt: string
}

/** The subject of a task and the work done for it. It is plain data: store it where you store your tasks. */
export interface TaskContext {
  taskId: string
  goal?: string
  userId?: string
  /** The only paths its calls may use. */
  allowedPaths?: readonly string[]
  /** Every step that was run, in the order in which they ended. */
  actionsDone: ActionResult[]
  /** The decisions after failures. */
  reflections: Reflection[]
  /** The number of entries of `actionsDone` that were reflected on. */
  reflectedOn: number
}

/** The result of a step. */
export interface ActionResult extends ReflectedAction {
  actionType: PlanStep["actionType"]
  /** The tool's return value, or the model's last answer. */
  result?: unknown
  /** The status of the ended call or chain. */
  status: string
  code?: EndingCode
  /** The id of the call, or of the conversation, in the audit log. */
  callId: string
  /** The calls of a chain. */
  toolCallHistory?: readonly ToolCallHistoryEntry[]
  /** For a chain that waits for people: `app.chain(agentId, { id: callId }).resume()` goes on if it is durable. */
  waiting?: ToolChainResult["waiting"]
  /** In milliseconds since 1970. */
  startedAt: number
  completedAt: number
  durationMs: number
}

/** A new task, of which nothing is done yet. */
export function newTask(task: Pick<TaskContext, "taskId" | "goal" | "userId" | "allowedPaths">): TaskContext {
  return { ...task, actionsDone: [], reflections: [], reflectedOn: 0 }
}
