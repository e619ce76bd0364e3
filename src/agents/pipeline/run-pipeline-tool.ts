import { z } from "zod"
import { failure } from "../../core/ending.ts"
import type { Tool } from "../../core/tool.ts"
import { defineTool } from "../../schema/define-tool.ts"
import type { PipelineDefinition } from "./definition.ts"
import { planText, problemText } from "./plan-text.ts"
import { ToolPipeline, type PipelineApp, type PipelineResult } from "./tool-pipeline.ts"

const values = z.record(z.string(), z.unknown())

const step = z.object({
  id: z.string().describe("A name for the step, for example find"),
  tool: z.string().describe("The tool to call"),
  input: values
    .optional()
    .describe('Its input. {"$from": "find#/files/0"} anywhere in it is a value of an earlier step, by JSON pointer'),
  description: z.string().optional().describe("Why it is called, for a person who approves it"),
  needs: z.array(z.string()).optional().describe("Steps that must succeed first, besides those it takes values of"),
  when: values
    .optional()
    .describe(
      'Run it only if: {"step": "find", "is": "success|failed|refused|withheld|skipped"}, {"$from": "find#/total", "equals|contains|above|below|exists": 0}, {"not": …}, {"all": […]} or {"any": […]}',
    ),
  retry: z
    .object({ times: z.int().min(1).max(10), pauseMs: z.int().min(0).max(600_000).optional() })
    .optional()
    .describe("Try again after a failure"),
  fallback: values.optional().describe('After a failure: {"tool": …, "input": …} or {"value": …}'),
})

/**
 * Runs a pipeline for a model. Each step is a call of the agent itself, so the tool needs no permission of its own and
 * takes no permit while they run.
 */
export function runPipelineTool(app: PipelineApp): Tool {
  return defineTool({
    name: "run_pipeline",
    group: "pipeline",
    description:
      "Make several tool calls whose inputs take values of each other, in one go: steps without a common value run at the same time. Everything is checked before the first step runs. Returns the outputs and how each step ended.",
    effect: "none",
    kind: "composite",
    permission: { level: "public" },
    input: () =>
      z.object({
        steps: z.array(step).min(1).describe("The calls to make"),
        outputs: values
          .optional()
          .describe(
            'What to return, for example {"text": {"$from": "read#/content"}}. Left out: what the last steps gave',
          ),
        dryRun: z.boolean().default(false).describe("Only say in which order the steps would run, and what is decided"),
      }),

    async execute({ dryRun, ...definition }, { agent, sessionId, taskId, allowedPaths, signal, call, emit }) {
      const pipeline = new ToolPipeline(app, definition as PipelineDefinition, {
        agentId: agent.id,
        sessionId,
        taskId,
        allowedPaths,
        signal,
        call,
        onStepEnd: ({ id, status }) => emit({ step: id, status }),
      })
      if (dryRun) return planText(await pipeline.check())
      const result = await pipeline.run()
      if (result.status !== "completed") throw notCompleted(result)
      const steps = result.steps.map(({ id, status, callId, reason }) => ({ id, status, callId, reason }))
      return { status: result.status, outputs: result.outputs, steps }
    },
  })
}

function notCompleted({ status, steps, problems }: PipelineResult) {
  if (status === "refused") {
    const toolCode = problems.some(({ kind }) => kind === "invalid") ? "pipeline_invalid" : "pipeline_denied"
    return failure(`Nothing was run. ${problems.map(problemText).join("\n")}`, { toolCode })
  }
  const lines = steps.map(
    ({ id, status: ended, reason }) => `${id}: ${ended}${reason === undefined ? "" : `. ${reason}`}`,
  )
  return failure(`The pipeline ended as ${status}. What succeeded has happened:\n${lines.join("\n")}`, {
    toolCode: "pipeline_failed",
  })
}
