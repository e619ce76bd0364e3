import type { ToolChainResult } from "../../../../agents/chain/chain-result.ts"
import type { ToolChainOptions } from "../../../../agents/chain/chain-options.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import { printable, printableJson } from "../../../../lib/printable.ts"
import { terminalStyleFor, type TerminalStyle } from "../../../../lib/terminal-style.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { shortId } from "../agents/agent-tree.ts"
import { callCard, callText, endingOf, onOneLine, ranText } from "../../terminal/call-line.ts"
import type { CliContext } from "../../common/context.ts"
import { printMessage } from "../../common/output.ts"
import type { RunStatus } from "./run-status.ts"
import { approveCommand } from "../approvals/show-pending.ts"
import { columnsOf } from "../../terminal/table.ts"
import { asTyped } from "../../common/typed-command.ts"

/** Shows a run: to people, or as events to programs. */
export interface RunReport {
  callbacks: Pick<
    ToolChainOptions,
    | "onToolCallStart"
    | "onToolCallComplete"
    | "onToolCallRefused"
    | "onLLMResponseComplete"
    | "onLLMResponsePart"
    | "onLLMRetry"
    | "onBeforeSendToLLM"
  >
  /** While the person is asked, nothing else is written to the terminal. */
  pause(): void
  resume(): void
  start(about: { id: string; agent: string; model: string; resumed: boolean }): void
  waiting(item: PendingItem): Promise<void>
  /** Another agent begins to work, or how its work ended. */
  agent(agentId: string, state: "working" | ToolChainResult["status"]): void
  /** The run is over, however it ended: only the report of its end comes after this. */
  stop(): void
  end(result: ToolChainResult): void
}

/** One JSON object a line: start, text, call, result, refused, waiting, end. */
export function jsonReport({ io }: CliContext, write: (text: string) => void): RunReport {
  const print = (event: { type: string } & Record<string, unknown>) => write(`${printableJson(event)}\n`)
  return {
    callbacks: {
      onLLMResponseComplete: ({ text }) => text !== "" && print({ type: "text", text }),
      onToolCallStart: (tool, input, id) => print({ type: "call", id, tool, input }),
      onToolCallComplete: ({ callId, toolName, status, code, error, result, durationMs }, id) => {
        const value = status === "success" ? { result } : { code, error }
        print({ type: "result", id, callId, tool: toolName, status, ...value, durationMs })
      },
      onToolCallRefused: (tool, input, error, id) => print({ type: "refused", id, tool, input, error }),
    },
    pause() {},
    resume() {},
    start: (about) => print({ type: "start", ...about }),
    async waiting(item) {
      const { callId, kind, tool, until } = item
      print({ type: "waiting", callId, kind, tool, until, answer: asTyped(io, await approveCommand(item)) })
    },
    agent: (agent, state) => print({ type: "agent", agent, state }),
    stop() {},
    end: ({ id, status, content, finishReason, error, waiting, stats }) =>
      print({
        type: "end",
        id,
        status,
        content,
        finishReason,
        error,
        ...(waiting.length > 0 && { waiting }),
        ...(status !== "completed" && { resume: asTyped(io, resumeCommand(id, status)) }),
        stats,
      }),
  }
}

/** The answer on stdout, and one line for each call on stderr. */
export async function textReport(context: CliContext, write: (text: string) => void): Promise<RunReport> {
  const { io } = context
  const paint = await terminalStyleFor(io.stderr, io.env)
  const colours = { done: paint.dim, refused: paint.yellow, failed: paint.red }
  const calls = new Map<string, string>()
  const print = (line: string) => void io.stderr.write(`${line}\n`)
  const columns = () => (io.stderr.isTTY ? columnsOf(io.stderr) : 200)
  const status = io.stderr.isTTY ? await statusOf(io, paint) : undefined
  return {
    callbacks: {
      ...status?.callbacks,
      onLLMResponseComplete({ text, calls: made }) {
        if (made.length > 0 && text.trim() !== "") print(printable(text.trim()))
      },
      onToolCallStart(tool, input, id) {
        calls.set(id, callText(tool, input))
        status?.callbacks.onToolCallStart?.(tool, input, id)
      },
      onToolCallComplete(result, id) {
        const ending = endingOf(result)
        for (const line of callCard(ranText(calls.get(id), result), ending, columns()))
          print(colours[ending.kind](line))
        status?.callbacks.onToolCallComplete?.(result, id)
      },
      onToolCallRefused(tool, input, sentence) {
        const ending = { kind: "refused", words: onOneLine(sentence.replace(/^NOT EXECUTED\. /, "")) } as const
        for (const line of callCard(callText(tool, input ?? {}), ending, columns())) print(paint.yellow(line))
      },
    },
    pause: () => status?.pause(),
    resume: () => status?.resume(),
    start() {},
    async waiting(item) {
      const { askedAgainText, itemText } = await import("../../../../approvals/ask/item-text.ts")
      printMessage(
        context,
        `Waiting for a person: ${itemText(item)}.${askedAgainText(item)} Answer with: ${await approveCommand(item)}`,
      )
    },
    agent: (agentId, state) => print(paint.dim(`↳ ${printable(shortId(agentId))} ${agentStates[state]}`)),
    stop: () => status?.stop(),
    end({ id, status: ended, content, finishReason, error }) {
      const resume = resumeCommand(id, ended)
      if (ended === "waiting") return printMessage(context, `Then go on with: ${resume}`)
      const isAnswer = (ended === "completed" || ended === "limit") && content.trim() !== ""
      if (isAnswer) write(`${io.stdout.isTTY ? printable(content.trim()) : content.trim()}\n`)
      if (ended === "completed" && !isAnswer)
        printMessage(context, `The model ended without an answer. Ask again with: ${resume}`)
      if (isAnswer && (finishReason === "length" || finishReason === "content-filter"))
        printMessage(context, `The model's provider cut the answer off. Go on with: ${resume}`)
      if (ended === "error") {
        printMessage(context, error ?? "The model failed.")
        printMessage(context, `Ask the model again with: ${resume}`)
      }
      if (ended === "limit") printMessage(context, `${error ?? "A limit was reached."} Go on with: ${resume}`)
      if (ended === "aborted") printMessage(context, `Stopped. Go on with: ${resume}`)
    },
  }
}

async function statusOf(io: CliContext["io"], paint: TerminalStyle): Promise<RunStatus> {
  const { RunStatus } = await import("./run-status.ts")
  return new RunStatus(io, paint)
}

const agentStates = {
  working: "works",
  completed: "is done",
  waiting: "waits",
  limit: "reached a limit",
  error: "failed",
  aborted: "was stopped",
}

/** The command that goes on. A run that is over needs something new to do; the others go on where they were. */
function resumeCommand(id: string, status: ToolChainResult["status"]): string {
  const isOver = status === "completed" || status === "limit" || status === "aborted"
  return `qm run --resume ${shellWord(id)}${isOver ? ' "Go on."' : ""}`
}
