import type { CliCommand } from "../../common/cli-command.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import type { PendingItem } from "../../../../core/approval.ts"
import { exitCode, isTicket } from "../../../../core/result.ts"
import { readArguments, parseJsonArgument } from "../../common/arguments.ts"
import { announceItem, askAtTerminal, refuseYesInside, waitsForRemoteAnswer } from "../approvals/ask-at-terminal.ts"
import { tellWaiting } from "../approvals/waiting-items.ts"
import { callingAgent } from "../../common/calling-agent.ts"
import type { Run, CliContext } from "../../common/context.ts"
import { deadServerSentence, missingToolSentences } from "./dead-server.ts"
import { divertStdout, onBrokenPipe, printMessage } from "../../common/output.ts"
import { showResult, showTicket } from "./result.ts"
import { waitForTool } from "../../common/wait-for-servers.ts"
import { personOf, withApp } from "../../common/open-app.ts"
import { cancelOnSignal } from "../../common/signals.ts"
import { LiveOutput } from "./live-output.ts"
import { readStdin } from "../../common/read-stdin.ts"
import { UsageError, wholeNumberFlag } from "../../common/usage.ts"

/** Endings of a call of a tool whose server does not run: the tool was never listed, or the server ended since. */
const mayBeOfDeadServer = new Set<string | undefined>(["unknown_tool", "upstream_unavailable"])

const cancelling = "Cancelling. Press Ctrl-C again to exit immediately."

interface CallFlags {
  timeout?: string
  key?: string
  session?: string
  task?: string
  wait?: string
  yes?: boolean
}

export function addCall(program: CliCommand, run: Run): void {
  program
    .command("call <tool> [input...]")
    .example("qm call read_file path=README.md limit=5", `qm call run_javascript '{"code":"return 6*7"}'`)
    .allowInTool()
    .description(
      "call a tool; input: key=value pairs (key:=json for JSON), one JSON object, or - to read it from stdin",
    )
    .option("--timeout <ms>", "time limit of the tool in milliseconds")
    .option("--key <key>", "idempotency key: repeating key, tool and input within 24 hours returns the first result")
    .option("--session <id>", "the session the call belongs to")
    .option("--task <id>", "the task the call belongs to")
    .option(
      "--wait <seconds>",
      "wait this long for approval, then exit with 4 and print a ticket (the id of the waiting call); repeat the call later to use the answer",
    )
    .option("--yes", "approve without asking, except sensitive calls, which wait for a person")
    .action(run(call))
  program
    .command("undo <call>")
    .example("qm undo 01a1e1a9-6b1e-7c5a-9d0b-2f2c1f1c7a11")
    .description("put the files that a call changed back as they were; shows the difference and asks")
    .action(run((context, id: string) => call(context, "undo_call", [`call=${id}`], {})))
}

/** Makes one call and shows its result. While it runs, only its own output reaches stdout. */
async function call(context: CliContext, tool: string, words: readonly string[], flags: CallFlags): Promise<number> {
  const { io } = context
  const { yes = false } = flags
  refuseYesInside(context, yes)
  const timeoutMs = wholeNumberFlag("--timeout", flags.timeout)
  const waitMs = waitFlag(flags.wait)
  const isPiped = words.length === 1 && words[0] === "-"
  const piped = isPiped ? await readPiped(io.stdin) : undefined
  const { controller, interrupt, stop } = cancelOnSignal(io.leave, () => printMessage(context, cancelling))
  let isRead = true
  onBrokenPipe(io.stdout, () => {
    isRead = false
    controller.abort()
  })
  const stdout = divertStdout(io)
  try {
    return await withApp(context, { print: (text) => printMessage(context, text) }, async (app, loaded) => {
      const person = async () => (await personOf(context, app, loaded)).id
      if (context.flags.as !== undefined) await person()
      const agentId = callingAgent(context, loaded, app)
      await waitForTool(context, app, agentId, tool)
      const input = isPiped ? piped : readInput(words, app, agentId, tool)
      const live = new LiveOutput(context, stdout.write)
      app.on("TOOL_CALL_OUTPUT", (event) => live.add(event))
      const isComposite = app.findTool(tool)?.kind === "composite"
      const hint = waitMs === undefined && !isComposite ? "; --wait <seconds> waits shorter and keeps it waiting" : ""
      const isRemote = waitsForRemoteAnswer(context, loaded)
      const announce = (item: PendingItem) => announceItem(context, item, hint)
      if (isRemote && !yes) tellWaiting(app, announce)
      const onLeft = isRemote ? announce : undefined
      await askAtTerminal(context, app, { yes, person, onInterrupt: interrupt, onLeft })
      const { key, session: sessionId, task: taskId } = flags
      const request = { agentId, tool, input, key, sessionId, taskId, timeoutMs, signal: controller.signal }
      if (waitMs !== undefined && isComposite)
        throw new UsageError(
          `${tool} makes calls itself and goes on only while this command runs, so --wait does not apply. Leave it out, or run the steps from a file with: qm pipeline run <file> --wait ${flags.wait}`,
        )
      const result = waitMs === undefined ? await app.call(request) : await app.call(request, { waitMs })
      if (isTicket(result)) {
        showTicket(context, result, live, stdout.write)
        return 4
      }
      if (isRead) showResult(context, result, live, stdout.write)
      if (!result.success && mayBeOfDeadServer.has(result.code)) {
        const dead = deadServerSentence(tool, app.mcp.list())
        const sentences = result.code === "unknown_tool" ? missingToolSentences(app, tool) : dead ? [dead] : []
        for (const sentence of sentences) printMessage(context, sentence)
      }
      return exitCode(result)
    })
  } finally {
    stdout.restore()
    stop()
  }
}

function waitFlag(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined
  if (/^\d{1,9}(\.\d+)?$/.test(seconds)) return Number(seconds) * 1000
  throw new UsageError(`--wait takes a number of seconds, and '${seconds}' is none.`)
}

/** Reads the words by the schema of the tool. If the agent may not see the tool, the call itself reports that. */
export function readInput(words: readonly string[], app: Quartermaster, agentId: string, tool: string): unknown {
  try {
    return words.length === 0 ? {} : readArguments(words, app.inputSchemaOf(agentId, tool))
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    throw new UsageError(`${error.message} 'qm tools show ${tool}' shows its parameters.`)
  }
}

/** Reads one JSON object from stdin, for the argument `-`. */
export async function readPiped(stream: NodeJS.ReadStream): Promise<unknown> {
  return parseJsonArgument(await readStdin(stream), "The input on stdin is", "Send one JSON object.")
}
