import type { ApprovalUIAdapter } from "../model/approval.ts"
import type { CallRequest } from "../model/call.ts"
import { answerText } from "../model/model-text.ts"
import { isTicket } from "../model/result.ts"
import type { JsonSchema } from "../model/schema.ts"
import type { Quartermaster } from "../quartermaster.ts"

/** What a loop needs of the app. */
export type LoopApp = Pick<Quartermaster, "toolsFor" | "callBatch">

/** Which tools a loop is given, and for whom it calls them. */
export interface LoopOptions extends Pick<CallRequest, "sessionId" | "userId" | "taskId"> {
  /** Only the tools of these groups, and those that `tools` names. */
  groups?: readonly string[] | undefined
  /** Only these tools, and those of `groups`. */
  tools?: readonly string[] | undefined
  /** Asks the person at this program. Without it, calls wait in the approval queue. */
  approvals?: Partial<ApprovalUIAdapter> | undefined
  /**
   * How many milliseconds a call waits for a person (default: to the end). After that the model is told that the call
   * waits, and that the same call made again returns its result.
   */
  waitMs?: number | undefined
  /**
   * Uses the model's id of a call as its key: a step that is repeated after a crash runs nothing twice. Needs a `sessionId`,
   * and a model that never gives two calls of a session the same id. Not together with `waitMs`.
   */
  runOnce?: boolean | undefined
}

/** A call as a model made it. The input is an object or its JSON text. */
export interface LoopCall {
  id: string | undefined
  name: string
  input: unknown
}

/** What the model is told of a call. */
export interface LoopAnswer {
  text: string
  isError: boolean
}

export interface GovernedTool {
  name: string
  description: string
  inputSchema: JsonSchema
  /** Makes a call. Refusals and failures are answers too. */
  call(given: Omit<LoopCall, "name">, signal?: AbortSignal): Promise<LoopAnswer>
}

/** The tools an agent may use, each with the function that calls it. */
export function governedToolList(app: LoopApp, agentId: string, options: LoopOptions): GovernedTool[] {
  return app.toolsFor(agentId, { format: "flat", ...narrowing(options) }).map(({ name, description, parameters }) => ({
    name,
    description,
    inputSchema: parameters,
    async call(given, signal) {
      const [answer] = await makeCalls(app, agentId, [{ ...given, name }], options, signal)
      return answer!
    },
  }))
}

/** The options of `toolsFor` that narrow its list. */
export function narrowing({ groups, tools }: LoopOptions): { groups?: readonly string[]; tools?: readonly string[] } {
  return { ...(groups !== undefined && { groups }), ...(tools !== undefined && { tools }) }
}

/** Makes the calls of one answer of a model and returns what it is told, in their order. */
export async function makeCalls(
  app: LoopApp,
  agentId: string,
  calls: readonly LoopCall[],
  options: LoopOptions,
  signal?: AbortSignal,
): Promise<LoopAnswer[]> {
  const { sessionId, userId, taskId, approvals, waitMs, runOnce = false } = options
  if (runOnce && sessionId === undefined)
    throw new TypeError("runOnce needs a sessionId, because the ids of a model are unique within one session only.")
  if (runOnce && waitMs !== undefined)
    throw new TypeError("runOnce and waitMs do not go together: a call that is made again later has another id.")
  const requests = calls.map(({ id, name, input }): CallRequest => ({
    agentId,
    tool: name,
    // Models leave the arguments empty for tools that take none.
    input: typeof input === "string" && input.trim() === "" ? {} : input,
    sessionId,
    userId,
    taskId,
    ...(runOnce && id !== undefined && { key: id }),
    ...(approvals !== undefined && { caller: { approvalUI: approvals } }),
    signal,
  }))
  const ended = await app.callBatch(requests, { waitMs })
  return ended.map((each, place) => ({
    text: answerText(each, calls[place]!.name),
    isError: isTicket(each) || !each.success,
  }))
}
