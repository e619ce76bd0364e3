import { newId } from "../../lib/new-id.ts"
import type { Calls } from "../../call/state/calls.ts"
import type { AgentTools } from "../../registry/agent-tools.ts"
import type { Why } from "../../policy/explanation.ts"
import type { CallRequest } from "../../core/call.ts"
import { isTicket, type Ticket, type ToolResult } from "../../core/result.ts"
import { checkSteps, type StepVerdict } from "./check-pipeline.ts"
import { conditionText } from "./condition.ts"
import { inputName } from "./definition.ts"
import { fillReferences } from "./references.ts"
import type { ToolContext } from "../../core/tool.ts"
import { askWhatBecame, mayBeRepeated, wasCutShort, type TreatedAsDone } from "./cut-short.ts"
import type { PipelineProblem, PipelineSource } from "./read-definition.ts"
import type { StepCall, StepResult } from "./run-step.ts"
import { outputsOf, runSteps } from "./run-steps.ts"

export interface PipelineOptions extends Pick<
  CallRequest,
  "taskId" | "userId" | "allowedPaths" | "sessionId" | "parentCallId" | "caller"
> {
  /** The agent that makes the calls. */
  agentId: string
  /** The input of the pipeline, for the inputs that it names. */
  input?: Readonly<Record<string, unknown>>
  /** The id of the run. With `durable`, the id of an earlier run goes on with that one: what has run does not run again. */
  id?: string
  /** Store the calls with keys, so that a run that waits can be gone on with for 24 hours, in any process. */
  durable?: boolean
  /** Milliseconds that a step waits for a person before the run ends with status `waiting` (default: to the end). */
  waitMs?: number
  /** Stops the run: calls that run are cancelled, others are not made. */
  signal?: AbortSignal
  /** Called before each call of a step, also before a retry and the fallback. */
  onStepStart?(id: string, tool: string, input: unknown): void
  onStepEnd?(result: StepResult): void
}

/** The result of a run of a pipeline. */
export interface PipelineResult {
  /** The id of the run: the session of its calls, unless another one was given. */
  id: string
  /**
   * `completed`: every step succeeded or was skipped by a condition. `failed`: some did not. `refused`: nothing was run,
   * `problems` says why. `waiting`: steps wait for people.
   */
  status: "completed" | "failed" | "refused" | "waiting" | "aborted"
  /** In the order of the definition. */
  steps: readonly StepResult[]
  /** The values that `outputs` of the definition names; else those of the steps that no other step waits for. */
  outputs: Readonly<Record<string, unknown>>
  problems: readonly PipelineProblem[]
  durationMs: number
}

/** A preview of a run: the order of the steps and the verdict on each. */
export interface PipelinePlan {
  name?: string
  /** The ids of the steps: those of one wave wait only for waves before it. */
  waves: readonly (readonly string[])[]
  /** In the order of the waves. */
  steps: readonly PlannedStep[]
  /** Why the pipeline would not be run; empty if it would. */
  problems: readonly PipelineProblem[]
}

export interface PlannedStep extends StepVerdict {
  id: string
  tool: string
  /** With references to other steps; what the pipeline was given is filled in, as `{ $literal }`. */
  input: Readonly<Record<string, unknown>>
  wave: number
  /** The steps it waits for. */
  after: readonly string[]
  /** Its condition, in words: `find#/total above 0`. */
  condition?: string
}

/** The parts of the app that a pipeline needs. */
export type PipelineApp = Pick<Calls, "callMany"> & Pick<AgentTools, "inputSchemaOf" | "visibleTool"> & { why: Why }

/** Options of a pipeline that only the app and the tool `run_pipeline` set. */
export interface InternalOptions {
  /** Makes the calls in place of the app: as sub-calls. */
  call?: ToolContext["call"]
  /** The app closes: it cancels what runs itself and leaves what waits for people, so calls do not get this signal. */
  closing?: AbortSignal
  resumableMs?: number
  /** Surrounds a run, with its checks. */
  around?<T>(work: () => Promise<T>): Promise<T>
  /** The run passed its checks, and no step has begun. */
  onRunStart?(about: { id: string; name: string | undefined; steps: number }): Promise<void>
  onRunEnd?(result: PipelineResult): Promise<void>
}

/**
 * Makes tool calls in the order that follows from what they take of each other. Each step is a call of its own, with all
 * checks, approvals and records. Nothing runs before the whole pipeline was checked.
 *
 * ```ts
 * const pipeline = app.pipeline({ yaml: await readFile("report.yml", "utf8"), file: "report.yml" }, { agentId: "dev" })
 * const { status, outputs, steps } = await pipeline.run()
 * ```
 */
export class ToolPipeline {
  readonly #app: PipelineApp
  readonly #source: PipelineSource
  readonly #options: PipelineOptions & InternalOptions
  readonly id: string

  constructor(app: PipelineApp, source: PipelineSource, options: PipelineOptions & InternalOptions) {
    this.#app = app
    this.#source = source
    this.#options = options
    this.id = options.id ?? newId()
  }

  /** Checks everything and runs nothing: keys, references, circles, tools, inputs, and whether the agent may make the calls. */
  async check(): Promise<PipelinePlan> {
    const { problems, plan } = await this.#prepare()
    return plan ?? { waves: [], steps: [], problems }
  }

  /** Runs the steps, unless there is a problem, and resolves when nothing runs any more. */
  run(): Promise<PipelineResult> {
    const { around } = this.#options
    return around === undefined ? this.#run() : around(() => this.#run())
  }

  async #run(): Promise<PipelineResult> {
    const startedAt = Date.now()
    const { id } = this
    const { problems, graph, definition, given } = await this.#prepare()
    if (problems.length > 0 || graph === undefined) {
      return { id, status: "refused", steps: [], outputs: {}, problems, durationMs: Date.now() - startedAt }
    }
    const { agentId, onStepStart, onStepEnd } = this.#options
    const stops = [this.#options.signal, this.#options.closing]
    const signal = AbortSignal.any(stops.filter((each) => each !== undefined))
    await this.#options.onRunStart?.({ id, name: definition.name, steps: graph.steps.length })
    const steps = await runSteps(graph, {
      given,
      signal,
      call: (request) => this.#call(request, { startedAt, signal }),
      isIdempotent: (tool) => this.#app.visibleTool(agentId, tool)?.idempotent === true,
      ...(onStepStart !== undefined && { onStart: onStepStart }),
      ...(onStepEnd !== undefined && { onEnd: onStepEnd }),
    })
    const outputs = outputsOf(definition, graph, steps, given)
    const durationMs = Date.now() - startedAt
    const result: PipelineResult = { id, status: statusOf(steps, signal.aborted), steps, outputs, problems, durationMs }
    await this.#options.onRunEnd?.(result)
    return result
  }

  async #prepare() {
    const { agentId, sessionId = this.id, taskId, allowedPaths, input = {} } = this.#options
    const { byLine, readGiven, readPipeline } = await import("./read-definition.ts")
    const { problems: wrong, parts } = readPipeline(this.#source)
    if (parts === undefined) return { problems: wrong }
    const { definition, graph } = parts
    const { values: given, problems: wrongInput } = readGiven(parts, input)
    const who = { agentId, sessionId, taskId, allowedPaths }
    const { verdicts, problems: refused } = await checkSteps(parts, this.#app, who, given)
    const problems = byLine([...wrong, ...wrongInput, ...refused])
    if (wrong.length > 0 || wrongInput.length > 0) return { problems }
    const waveOf = new Map(graph.waves.flatMap((ids, wave) => ids.map((step) => [step, wave + 1])))
    const steps = graph.steps.map(({ definition: step, after }): PlannedStep => {
      const { id, tool, when } = step
      const about = {
        id,
        tool,
        input: fillReferences(step.input ?? {}, inputName, given) as PlannedStep["input"],
        wave: waveOf.get(id)!,
        after,
        condition: when && conditionText(when),
      }
      return { ...about, ...verdicts.get(id)! }
    })
    const plan: PipelinePlan = { name: definition.name, waves: graph.waves, steps, problems }
    return { problems, graph, definition, given, plan }
  }

  /** Calls a tool. In a run that goes on, a call that was cut short is made again if it may be, or a person is asked. */
  async #call(
    request: StepCall,
    run: { startedAt: number; signal: AbortSignal },
  ): Promise<ToolResult | Ticket | TreatedAsDone> {
    const { agentId, durable, call } = this.#options
    const { tool, input, tryName, intent } = request
    if (call !== undefined) return call(tool, input, { intent })
    for (let time = 1; ; time++) {
      // No id of a step has this sign, so this is no other try of any step.
      const name = time === 1 ? tryName : `${tryName}#${time}`
      const ended = await this.#callOnce({ ...request, tryName: name })
      if (durable !== true || isTicket(ended) || !wasCutShort(ended, run)) return ended
      const { callId } = ended
      if (mayBeRepeated(ended, this.#app.visibleTool(agentId, tool))) continue
      const became = await askWhatBecame({ callId, tool, input }, (question) =>
        this.#call({ ...question, tryName: `${name}/interrupted` }, run),
      )
      if (became === "done") return { callId, treatedAsDone: true }
      if (became !== "again") return became === "unknown" ? ended : became
    }
  }

  async #callOnce({ tool, input, tryName, intent, fromLoop }: StepCall): Promise<ToolResult | Ticket> {
    const { agentId, sessionId = this.id, durable, waitMs, resumableMs, signal, ...options } = this.#options
    const { taskId, userId, allowedPaths, parentCallId, caller } = options
    const about = { agentId, sessionId, taskId, userId, allowedPaths, parentCallId, caller, signal }
    const stored = durable === true && {
      key: `${this.id}/${tryName}`,
      ...(resumableMs !== undefined && { resumableUntil: Date.now() + resumableMs }),
    }
    // A batch of one: unlike `call`, it gives a ticket when the app is closed while a person is asked.
    const [ended] = await this.#app.callMany([{ ...about, tool, input, intent, fromLoop, ...stored }], { waitMs })
    return ended!
  }
}

function statusOf(steps: readonly StepResult[], isStopped: boolean): PipelineResult["status"] {
  const has = (...statuses: string[]) => steps.some(({ status }) => statuses.includes(status))
  if (has("aborted")) return "aborted"
  if (has("waiting")) return isStopped ? "aborted" : "waiting"
  return has("failed", "refused", "withheld") ? "failed" : "completed"
}
