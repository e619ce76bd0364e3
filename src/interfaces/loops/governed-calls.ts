import type { ApprovalUIAdapter } from "../../core/approval.ts"
import type { CallRequest } from "../../core/call.ts"
import { answerText, type TextOptions } from "../../core/model-text.ts"
import { errorMessage } from "../../lib/error-message.ts"
import { isTicket, lostResult, type Ticket, type ToolResult } from "../../core/result.ts"
import { imageForModel, type ResultImage } from "../../core/result-image.ts"
import type { JsonSchema } from "../../core/schema.ts"
import { artifactReader } from "../../core/artifact-reader.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import { RepeatableCall } from "./held-calls.ts"

/** The parts of the app that a loop needs. */
export type LoopApp = Pick<Quartermaster, "toolsFor" | "callMany" | "resume">

/** The tools that a loop is given, and the agent for whom it calls them. */
export interface LoopOptions extends Pick<CallRequest, "sessionId" | "userId" | "taskId"> {
  /** Only the tools of these groups, and those that `tools` names. */
  groups?: readonly string[]
  /** Only these tools, and those of `groups`. */
  tools?: readonly string[]
  /** Asks the person at this program. Without it, calls wait in the approval queue. */
  approvals?: Partial<ApprovalUIAdapter>
  /**
   * Milliseconds that a call waits for a person (default: to the end). After that the model is told that the call
   * waits, and that the same call made again returns its result.
   */
  waitMs?: number
  /**
   * True if the model sees images: then it gets the image of a result besides its text. Default: true for Anthropic's
   * messages, else false, because servers for text refuse images.
   */
  images?: boolean
}

/** A call as a model made it. The input is an object or its JSON text. */
export interface LoopCall {
  name: string
  input: unknown
  signal?: AbortSignal
}

/** The model's text about a call. */
export interface LoopAnswer {
  text: string
  isError: boolean
  /** With the option `images`. */
  image?: ResultImage
}

export interface GovernedTool {
  name: string
  description: string
  inputSchema: JsonSchema
  /** Makes a call. Refusals and failures are answers too. */
  call(input: unknown, signal?: AbortSignal): Promise<LoopAnswer>
}

/** The tools an agent may use, each with the function that calls it. */
export function governedToolList(app: LoopApp, agentId: string, options: LoopOptions): GovernedTool[] {
  const makeCall = inBatches((calls, onAnswer) => makeCalls(app, agentId, calls, options, onAnswer))
  return app.toolsFor(agentId, { format: "flat", ...narrowing(options) }).map(({ name, description, parameters }) => ({
    name,
    description,
    inputSchema: parameters,
    call: (input, signal) => makeCall({ name, input, signal }),
  }))
}

/**
 * Makes calls that come in the same turn of the event loop as one batch. The libraries start all calls of an answer of
 * the model at once, each with a function of its own.
 */
function inBatches(
  make: (calls: readonly LoopCall[], onAnswer: (place: number, answer: LoopAnswer) => void) => Promise<unknown>,
): (call: LoopCall) => Promise<LoopAnswer> {
  let gathered: { call: LoopCall; resolve(answer: LoopAnswer): void; reject(error: unknown): void }[] = []
  const start = () => {
    const batch = gathered
    gathered = []
    const made = make(
      batch.map(({ call }) => call),
      (place, answer) => batch[place]!.resolve(answer),
    )
    made.catch((error: unknown) => batch.forEach(({ reject }) => reject(error)))
  }
  return (call) =>
    new Promise((resolve, reject) => {
      if (gathered.push({ call, resolve, reject }) === 1) setImmediate(start)
    })
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
  onAnswer?: (place: number, answer: LoopAnswer) => void,
): Promise<LoopAnswer[]> {
  const { sessionId, userId, taskId, approvals, waitMs } = options
  const caller = approvals && { approvalUI: approvals }
  const answers: LoopAnswer[] = []
  const made = calls.map((call, place) => ({ ...call, place, known: new RepeatableCall(app, agentId, call, options) }))
  const onEnd = ({ place, name, known }: (typeof made)[number], ended: ToolResult | Ticket) => {
    if (isTicket(ended) && ended.state === "held") known.remember(ended.callId)
    else if (!isTicket(ended)) known.forget()
    const text = answerText(ended, name, readerFor(ended, app, agentId, options))
    answers[place] = { text, isError: isTicket(ended) || !ended.success }
    const image = options.images === true && !isTicket(ended) && ended.success ? imageForModel(ended.result) : undefined
    if (image !== undefined) answers[place].image = image
    onAnswer?.(place, answers[place])
  }
  const fresh = made.filter(({ known }) => known.heldId === undefined)
  const requests = fresh.map(({ name, input, signal }): CallRequest => ({
    agentId,
    tool: name,
    // Models leave the arguments empty for tools that take none.
    input: typeof input === "string" && input.trim() === "" ? {} : input,
    sessionId,
    userId,
    taskId,
    caller,
    signal,
  }))
  const held = made.filter(({ known }) => known.heldId !== undefined)
  await Promise.all([
    app.callMany(requests, { waitMs, oneAnswer: true, onEnd: (index, ended) => onEnd(fresh[index]!, ended) }),
    ...held.map(async (each) => {
      const going = app.resume(each.known.heldId!, { waitMs, signal: each.signal, caller })
      const ended = await going.catch((error) => lostResult(each.name, each.known.heldId!, errorMessage(error)))
      onEnd(each, ended)
    }),
  ])
  return answers
}

/** Reports whether the model has the tool by which it reads on in a result that is cut. */
function readerFor(ended: ToolResult | Ticket, app: LoopApp, agentId: string, options: LoopOptions): TextOptions {
  if (isTicket(ended) || ended.truncated === undefined) return {}
  const tools = app.toolsFor(agentId, { format: "flat", ...narrowing(options) })
  return { reader: tools.some(({ name }) => name === artifactReader) && artifactReader }
}
