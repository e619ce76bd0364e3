import type { Spent } from "./conversation.ts"
import type { EndingCode, ToolExecuteStatus } from "./result.ts"

interface CallEvent {
  callId: string
  toolName: string
  agentId: string
  at: number
}

/** A run of a conversation: from what was said to the model to its answer. */
interface RunEvent {
  conversationId: string
  agentId: string
  /** The conversation at the top of its tree: itself, unless another conversation began it. */
  root: string
  /** The configured name of the model, and the provider's. */
  model: string
  modelId: string
  at: number
}

/** A run of a pipeline that passed its checks. Its steps are calls with events of their own. */
interface PipelineEvent {
  pipelineId: string
  agentId: string
  at: number
}

/**
 * Everything `app.on` can listen to. What an event reports is already written to the store when it is emitted.
 *
 * ```ts
 * app.on("TOOL_CALL_WAITING", ({ callId, toolName }) => console.log(`${toolName} waits for approval: ${callId}`))
 * ```
 */
export type QuartermasterEvent =
  | (CallEvent & { type: "TOOL_CALL_REQUESTED"; params: unknown })
  | (CallEvent & { type: "TOOL_CALL_COMPLETED"; result: unknown; startedAt: number; durationMs: number })
  | (CallEvent & {
      type: "TOOL_CALL_FAILED"
      status: ToolExecuteStatus
      code: EndingCode
      error: string
      startedAt: number
      durationMs: number
    })
  | (CallEvent & { type: "TOOL_CALL_WAITING"; until: number })
  | (CallEvent & { type: "TOOL_CALL_APPROVED"; by: string })
  | (CallEvent & { type: "TOOL_CALL_REJECTED"; by: string; reason: string })
  /** A person's answer was stored by this process. The call goes on where it is waited for. */
  | (CallEvent & { type: "TOOL_CALL_ANSWERED"; by: string })
  /** `peopleOnly`: a person may still withhold the result, so do not show this output to the model. */
  | (CallEvent & { type: "TOOL_CALL_OUTPUT"; chunk: unknown; peopleOnly: boolean })
  | (CallEvent & { type: "TOOL_CALL_LATE_RESULT"; outcome: "returned" | "failed" | "lost"; peopleOnly: boolean })
  | (CallEvent & { type: "TOOL_CALL_RELEASED"; by: string })
  | (CallEvent & { type: "TOOL_CALL_WITHHELD"; by: string; reason: string })
  | { type: "TOOL_LIST_CHANGED"; at: number; tool: string; change: "registered" | "unregistered" }
  | { type: "ROLE_CHANGED"; at: number; role: string; change: "created" | "updated" | "deleted" }
  | {
      type: "AGENT_CHANGED"
      at: number
      agent: string
      change: "created" | "updated" | "terminated" | "frozen" | "thawed"
    }
  | { type: "MESSAGE_SENT"; at: number; message: string; from: string; to: string }
  | (RunEvent & { type: "RUN_STARTED" })
  /** The usage of this run, not of the whole conversation. */
  | (RunEvent & {
      type: "RUN_ENDED"
      status: "completed" | "aborted" | "error" | "limit" | "waiting"
      used: Spent
      durationMs: number
    })
  | (PipelineEvent & { type: "PIPELINE_STARTED"; name: string | undefined; steps: number })
  | (PipelineEvent & {
      type: "PIPELINE_ENDED"
      status: "completed" | "failed" | "refused" | "waiting" | "aborted"
      durationMs: number
    })
  | { type: "GROUP_CHANGED"; at: number; group: string; change: "registered" | "updated" | "unregistered" }

export type EventType = QuartermasterEvent["type"]
export type EventOf<T extends EventType> = Extract<QuartermasterEvent, { type: T }>
export type Listener<T extends EventType = EventType> = (event: EventOf<T>) => void

export interface Events {
  /** Listens to events of one type. Returns a function that stops listening. */
  on<T extends EventType>(type: T, listener: Listener<T>): () => void
}
