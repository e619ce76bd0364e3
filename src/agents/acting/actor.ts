import type { Calls } from "../../call/state/calls.ts"
import type { AgentTools } from "../../registry/agent-tools.ts"
import type { ChainOptions } from "../chain/open-chains.ts"
import type { ToolChainResult } from "../chain/chain-result.ts"
import type { ToolChain } from "../chain/tool-chain.ts"
import type { Reflection, Reflector } from "../reflection/reflector.ts"
import { ruleReflector } from "../reflection/rules.ts"
import type { ActionResult, ChainStep, PlanStep, TaskContext, ToolCallStep } from "./task.ts"

/** The parts of the app that an actor needs. */
export interface ActorApp extends Pick<Calls, "call">, Pick<AgentTools, "visibleTool" | "visibleTools"> {
  chain(agentId: string, options?: ChainOptions): ToolChain
}

export interface ActorOptions {
  /** The model and the limits of steps that a model does. */
  chain?: ChainOptions
  /** Decides how to go on after failures (default: by rules). */
  reflector?: Reflector
  /** Cancels what runs. */
  signal?: AbortSignal
}

/**
 * Does the steps of a plan as one agent, in the phase that S4 calls ACTING. Every tool call is a call like any other, with
 * all its steps, approvals and events.
 *
 * ```ts
 * const actor = new Actor(app, "dev")
 * const task = newTask({ taskId: "t1", goal: "Greet everyone." })
 * await actor.runStep({ id: "ada", actionType: "tool_call", toolName: "greet", params: { name: "Ada" } }, task)
 * console.log(task.actionsDone[0]?.result)
 * ```
 */
export class Actor {
  readonly #app: ActorApp
  readonly #agentId: string
  readonly #options: ActorOptions

  constructor(app: ActorApp, agentId: string, options: ActorOptions = {}) {
    this.#app = app
    this.#agentId = agentId
    this.#options = options
  }

  /** Runs one step and adds its result to `context.actionsDone`. A failure is a result, not an error. */
  async runStep(step: PlanStep, context: TaskContext): Promise<ActionResult> {
    const done = await (step.actionType === "tool_call" ? this.#call(step, context) : this.#runChain(step, context))
    context.actionsDone.push(done)
    return done
  }

  /**
   * Decides how to go on with the plan, if steps failed since the last time. Otherwise undefined. Steps of the plan that are
   * not in `context.actionsDone` are still to do.
   */
  async reflect(plan: readonly PlanStep[], context: TaskContext): Promise<Reflection | undefined> {
    const { actionsDone, reflections, goal = "" } = context
    const failures = actionsDone.slice(context.reflectedOn).filter(({ success }) => !success)
    context.reflectedOn = actionsDone.length
    if (failures.length === 0) return undefined
    const { reflector = ruleReflector, signal } = this.#options
    const isDone = new Set(actionsDone.map(({ stepId }) => stepId))
    const stepsLeft = plan.filter(({ id }) => !isDone.has(id)).map((step) => this.#asLeft(step))
    const reflection = await reflector.reflect({
      goal,
      actionsDone,
      failures,
      tools: this.#callable(new Set(reflections.flatMap(({ withoutTools = [] }) => withoutTools))),
      stepsLeft,
      signal,
    })
    reflections.push(reflection)
    return reflection
  }

  async #call(step: ToolCallStep, { taskId, userId, allowedPaths }: TaskContext): Promise<ActionResult> {
    const { id: stepId, actionType, toolName, params, description } = step
    const ended = await this.#app.call({
      agentId: this.#agentId,
      tool: toolName,
      input: params,
      taskId,
      userId,
      allowedPaths,
      intent: description,
      signal: this.#options.signal,
    })
    const { callId, status, startedAt, completedAt = Date.now(), durationMs = 0 } = ended
    const about = { stepId, actionType, toolName: ended.toolName, callId, status, startedAt, completedAt, durationMs }
    if (ended.success) return { ...about, success: true, result: ended.result }
    const transient = ended.metadata?.["transient"] === true
    return { ...about, success: false, error: ended.error, code: ended.code, transient }
  }

  async #runChain(step: ChainStep, { taskId, userId, allowedPaths }: TaskContext): Promise<ActionResult> {
    const { id: stepId, actionType, prompt } = step
    const { chain, signal } = this.#options
    const startedAt = Date.now()
    const task = { taskId, userId, allowedPaths, ...(signal !== undefined && { signal }) }
    const ended = await this.#app.chain(this.#agentId, { ...chain, ...task }).run(prompt)
    const completedAt = Date.now()
    const { id: callId, status, content, toolCallHistory, waiting } = ended
    const success = status === "completed"
    return {
      stepId,
      actionType,
      toolName: stepId,
      callId,
      status,
      success,
      result: content,
      ...(!success && { error: whyNotCompleted(ended) }),
      toolCallHistory,
      ...(waiting.length > 0 && { waiting }),
      startedAt,
      completedAt,
      durationMs: completedAt - startedAt,
    }
  }

  /** A step names its tool as it likes; reflections use the tool's own name. */
  #asLeft(step: PlanStep) {
    const { id, needs } = step
    if (step.actionType === "chain") return { id, needs }
    return { id, needs, toolName: this.#app.visibleTool(this.#agentId, step.toolName)?.name ?? step.toolName }
  }

  #callable(withoutTools: ReadonlySet<string>) {
    return this.#app
      .visibleTools(this.#agentId)
      .filter(({ name }) => !withoutTools.has(name))
      .map(({ name, group, effect, fallback = [] }) => {
        return { name, group, effect, fallbacks: fallback.map(({ tool }) => tool) }
      })
  }
}

function whyNotCompleted({ status, error }: ToolChainResult): string {
  return error ?? `The chain ended with the status ${status}.`
}
