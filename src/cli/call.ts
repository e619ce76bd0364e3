import type { Command } from "commander"
import type { App } from "../model/app.ts"
import { exitCode, isTicket } from "../model/result.ts"
import { readArguments, readJson } from "./arguments.ts"
import { askedBy, sayWhatWaits, waitsElsewhere } from "./asked.ts"
import { agentOf } from "./caller.ts"
import type { Run, Session } from "./house.ts"
import { divertStdout, onReaderGone, say } from "./output.ts"
import { showResult, showTicket } from "./result.ts"
import { meetTool } from "./servers.ts"
import { personOf, withApp } from "./session.ts"
import { cancelOnSignal } from "./signals.ts"
import { Stream } from "./stream.ts"
import { UsageError, wholeNumber } from "./usage.ts"

const cancelling = "Cancelling. Press Ctrl-C again to leave at once."

interface CallFlags {
  timeout?: string
  key?: string
  session?: string
  task?: string
  wait?: string
  yes?: boolean
}

export function addCall(program: Command, run: Run): void {
  program
    .command("call <tool> [input...]")
    .description("call a tool; its input is one JSON object, key=value pairs (key:=json forces JSON), or - for stdin")
    .option("--timeout <ms>", "milliseconds the tool may take")
    .option("--key <key>", "the same key, tool and input is the same call for 24 hours")
    .option("--session <id>", "the session the call belongs to")
    .option("--task <id>", "the task the call belongs to")
    .option("--wait <seconds>", "give up waiting for a person after that; the same call later takes the answer")
    .option("--yes", "agree to what is not sensitive without being asked")
    .action(run(call))
}

/** Makes one call and shows how it ended. While it runs, only its own output reaches stdout. */
async function call(session: Session, tool: string, words: readonly string[], flags: CallFlags): Promise<number> {
  const { io } = session
  const { yes = false } = flags
  const timeoutMs = wholeNumber("--timeout", flags.timeout)
  const waitMs = patienceOf(flags.wait)
  const isPiped = words.length === 1 && words[0] === "-"
  const piped = isPiped ? await readPiped(io.stdin) : undefined
  const { controller, stop } = cancelOnSignal(io.leave, () => say(session, cancelling))
  let isRead = true
  onReaderGone(io.stdout, () => {
    isRead = false
    controller.abort()
  })
  const stdout = divertStdout(io)
  try {
    let nameOf = () => Promise.resolve("terminal")
    return await withApp(session, askedBy(session, { yes, nameOf: () => nameOf() }), async (app, loaded) => {
      nameOf = async () => (await personOf(session, app, loaded)).id
      if (session.flags.as !== undefined) await nameOf()
      const agentId = agentOf(session, loaded, app)
      await meetTool(app, agentId, tool)
      const input = isPiped ? piped : words.length === 0 ? {} : readArguments(words, schemaOf(app, agentId, tool))
      const stream = new Stream(session, stdout.write)
      app.on("TOOL_CALL_OUTPUT", (event) => stream.add(event))
      if (!yes && waitsElsewhere(session, loaded)) sayWhatWaits(session, app)
      const { key, session: sessionId, task: taskId } = flags
      const request = { agentId, tool, input, key, sessionId, taskId, timeoutMs, signal: controller.signal }
      const ended = await (waitMs === undefined ? app.call(request) : app.submit(request, { waitMs }))
      if (isTicket(ended)) {
        showTicket(session, ended, stream, stdout.write)
        return 4
      }
      if (isRead) showResult(session, ended, stream, stdout.write)
      return exitCode(ended)
    })
  } finally {
    stdout.restore()
    stop()
  }
}

function patienceOf(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined
  if (/^\d{1,9}(\.\d+)?$/.test(seconds)) return Number(seconds) * 1000
  throw new UsageError(`--wait takes a number of seconds, and '${seconds}' is none.`)
}

/** What the tool takes, if this agent may know of it; if not, the walk says why. */
export function schemaOf(app: App, agentId: string, written: string) {
  return app.inputOf(agentId, written)
}

async function readPiped(stream: NodeJS.ReadStream): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk as Uint8Array))
  return readJson(Buffer.concat(chunks).toString("utf8"), "What came in on stdin is", "Send one JSON object.")
}
