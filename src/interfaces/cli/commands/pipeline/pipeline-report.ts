import type { PipelineProblem } from "../../../../agents/pipeline/read-definition.ts"
import type { StepResult } from "../../../../agents/pipeline/run-step.ts"
import type { PipelineOptions, PipelineResult } from "../../../../agents/pipeline/tool-pipeline.ts"
import { counted } from "../../../../lib/counted.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import { terminalStyleFor } from "../../../../lib/terminal-style.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { withoutImages } from "../../../../core/result-image.ts"
import { callCard, callText, durationText, onOneLine, type CallEnding } from "../../terminal/call-line.ts"
import type { CliContext } from "../../common/context.ts"
import { isAttended } from "../../common/open-app.ts"
import { printMessage } from "../../common/output.ts"
import { approveCommand } from "../approvals/show-pending.ts"
import { columnsOf } from "../../terminal/table.ts"
import { asTyped } from "../../common/typed-command.ts"
import { cutTo } from "../../terminal/width.ts"

/** Shows a run of a pipeline: to people, or as events to programs. */
export interface PipelineReport {
  callbacks: Pick<PipelineOptions, "onStepStart" | "onStepEnd">
  start(about: { id: string; agent: string; file: string }): void
  /** Nothing is wrong with it, and its steps begin. */
  begun(about: { id: string; agent: string; name: string; steps: number }): void
  waiting(item: PendingItem): Promise<void>
  /** `resume` is the command that goes on, and `open` what waits for people. */
  end(result: PipelineResult, left: { resume: string; open: readonly PendingItem[] }): Promise<void>
}

/** One JSON object a line: start, call, step, waiting, end. */
export function jsonPipelineReport({ io }: CliContext, write: (text: string) => void): PipelineReport {
  const print = (event: { type: string } & Record<string, unknown>) => write(`${printableJson(event)}\n`)
  return {
    callbacks: {
      onStepStart: (step, tool, input) => print({ type: "call", step, tool, input }),
      onStepEnd: ({ id, ...result }) => print({ type: "step", step: id, ...result }),
    },
    start: (about) => print({ type: "start", ...about }),
    begun() {},
    async waiting(item) {
      const { callId, kind, tool, until } = item
      print({ type: "waiting", callId, kind, tool, until, answer: asTyped(io, await approveCommand(item)) })
    },
    async end({ id, status, outputs, problems, durationMs }, { resume }) {
      const goOn = status === "waiting" || status === "aborted" ? { resume: asTyped(io, resume) } : {}
      print({ type: "end", id, status, outputs, problems, durationMs, ...goOn })
    },
  }
}

/** The outputs on stdout, and one line for each step on stderr. */
export async function textPipelineReport(context: CliContext, write: (text: string) => void): Promise<PipelineReport> {
  const { io } = context
  const paint = await terminalStyleFor(io.stderr, io.env)
  const colours = { done: paint.green, refused: paint.yellow, failed: paint.red }
  const calls = new Map<string, string>()
  return {
    callbacks: {
      onStepStart: (id, tool, input) => void calls.set(id, callText(tool, input)),
      onStepEnd(result) {
        const columns = io.stderr.isTTY ? columnsOf(io.stderr) : 200
        const name = printable(result.id)
        const call = calls.get(result.id)
        if (call === undefined) {
          const line = cutTo(`○ ${name}: ${result.status}. ${onOneLine(result.reason ?? "")}`, columns)
          return void io.stderr.write(`${paint.dim(line)}\n`)
        }
        if (result.status === "waiting") {
          const words = ", waits for a person"
          const line = `◌ ${cutTo(`${name}: ${call}`, columns - 2 - words.length)}${words}`
          return void io.stderr.write(`${paint.yellow(line)}\n`)
        }
        const ending = endingOf(result)
        for (const line of callCard(`${name}: ${call}`, ending, columns))
          io.stderr.write(`${colours[ending.kind](line)}\n`)
      },
    },
    start() {},
    begun({ id, agent, name, steps }) {
      const what = `${onOneLine(name)}: ${counted(steps, "step")}, as agent ${printable(agent)}`
      io.stderr.write(`${paint.dim(`${what}, run ${id}`)}\n`)
    },
    async waiting(item) {
      if (!isAttended(io)) await tellOpen(context, item)
    },
    async end(result, { resume, open }) {
      const { status, steps, problems, durationMs } = result
      const text = outputText(result, io.stdout.isTTY)
      // In a terminal the outputs stand apart from the steps.
      if (text !== "") write(io.stdout.isTTY ? `\n${text}\n\n` : `${text}\n`)
      const done = steps.filter((step) => step.status === "success").length
      const count = `${done} of ${counted(steps.length, "step")} succeeded, in ${durationText(durationMs)}.`
      if (status === "refused") printProblems(context, problems)
      else if (status === "waiting") printMessage(context, `${count} When it is answered, go on with: ${resume}`)
      else if (status === "aborted") {
        printMessage(context, `Stopped. ${count}`)
        for (const item of open) await tellOpen(context, item)
        printMessage(context, `Go on with: ${resume}`)
      } else printMessage(context, count)
    },
  }
}

/** Each problem with its line, and how many there are. */
export function printProblems(context: CliContext, problems: readonly PipelineProblem[]): void {
  for (const { place, sentence } of problems) printMessage(context, `${place}: ${sentence}`)
  printMessage(context, `${counted(problems.length, "problem")}, so nothing was run.`)
}

async function tellOpen(context: CliContext, item: PendingItem): Promise<void> {
  const { askedAgainText, itemText } = await import("../../../../approvals/ask/item-text.ts")
  printMessage(
    context,
    `Waiting for a person: ${itemText(item)}.${askedAgainText(item)} Answer with: ${await approveCommand(item)}`,
  )
}

/** A single text as it is, anything else as JSON. */
function outputText({ outputs }: PipelineResult, isTerminal: boolean): string {
  const values = Object.values(outputs)
  if (values.length === 0) return ""
  const [only] = values
  if (values.length > 1 || typeof only !== "string") return printableJson(withoutImages(outputs), 2)
  return (isTerminal ? printable(only) : only).replace(/\n$/, "")
}

function endingOf({ status, reason, durationMs, tries, fallbackBecause }: StepResult): CallEnding {
  if (status === "success") {
    const words = [
      ...(durationMs === undefined ? [] : [durationText(durationMs)]),
      ...(reason === undefined ? [] : ["a person says that it has happened"]),
      ...(tries === undefined ? [] : [`${tries} tries`]),
      ...(fallbackBecause === undefined ? [] : ["by its fallback"]),
    ]
    return { kind: "done", words: words.join(", ") }
  }
  return { kind: status === "failed" ? "failed" : "refused", words: onOneLine(reason ?? status) }
}
