import { setMaxListeners } from "node:events"
import type { QuartermasterEvent } from "../../core/events.ts"
import type { PipelineSource } from "./read-definition.ts"
import { ToolPipeline, type PipelineApp, type PipelineOptions } from "./tool-pipeline.ts"

/** The parts of the app that pipelines need. */
export interface PipelineParts {
  app: PipelineApp
  closing: AbortSignal
  /** Milliseconds for people to answer the calls of a stored run. */
  resumableMs: number
  emit(event: QuartermasterEvent): void
  /** Writes a note about a run into the audit log. */
  note(id: string, agentId: string, text: string): Promise<void>
}

/** Reports whether a note of the audit log is the first one of a run. */
export function isFirstNote(text = ""): boolean {
  return /^A run of (a pipeline|the pipeline .*) began\. Steps: \d+\.$/s.test(text)
}

/** Makes pipelines over the app. They are stopped when it closes. */
export function openPipelines({ app, closing, resumableMs, emit, note }: PipelineParts) {
  let running = 0
  let onIdle: () => void = () => {}
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    running++
    try {
      return await work()
    } finally {
      if (--running === 0) onIdle()
    }
  }
  return {
    pipeline(source: PipelineSource, options: PipelineOptions): ToolPipeline {
      const { agentId, signal } = options
      // Every call that runs listens to it.
      if (signal !== undefined) setMaxListeners(0, signal)
      return new ToolPipeline(app, source, {
        ...options,
        closing,
        resumableMs,
        around: counted,
        async onRunStart({ id, name, steps }) {
          const what = name === undefined ? "a pipeline" : `the pipeline ${name}`
          await note(id, agentId, `A run of ${what} began. Steps: ${steps}.`)
          emit({ type: "PIPELINE_STARTED", at: Date.now(), pipelineId: id, agentId, name, steps })
        },
        async onRunEnd({ id, status, steps, durationMs }) {
          const done = steps.filter((step) => step.status === "success").length
          await note(
            id,
            agentId,
            `The run of the pipeline ended: ${status}. Steps that succeeded: ${done} of ${steps.length}.`,
          )
          emit({ type: "PIPELINE_ENDED", at: Date.now(), pipelineId: id, agentId, status, durationMs })
        },
      })
    },
    /** Resolves when no run is in progress. */
    pipelinesIdle: () => (running === 0 ? Promise.resolve() : new Promise<void>((resolve) => (onIdle = resolve))),
  }
}
