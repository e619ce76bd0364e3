import { createInterface } from "node:readline"
import type { LoadedConfig } from "../../../../config/load.ts"
import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { errorMessage } from "../../../../lib/error-message.ts"
import { callingAgent } from "../../common/calling-agent.ts"
import { printableJson } from "../../../../lib/printable.ts"
import type { CliContext } from "../../common/context.ts"
import { onBrokenPipe, writeAndDrain } from "../../common/output.ts"
import { withApp } from "../../common/open-app.ts"

/** Answers each line of stdin with one line: the verdict on that call, or what is wrong with the line; then the exit code is 1. */
export function whyLines(session: CliContext, sessionId: string | undefined): Promise<number> {
  const { io } = session
  let hasReader = true
  onBrokenPipe(io.stdout, () => (hasReader = false))
  return withApp(session, { readOnly: true }, async (app, loaded) => {
    let code = 0
    for await (const line of createInterface({ input: io.stdin, crlfDelay: Infinity })) {
      if (!hasReader) break
      const answer = await answerTo(line, { session, loaded, app, sessionId })
      if ("error" in answer) code = 1
      await writeAndDrain(io.stdout, `${printableJson(answer)}\n`)
    }
    return code
  })
}

interface Question {
  agent: string | undefined
  tool: string
  input: unknown
  sessionId: string | undefined
}

interface Context {
  session: CliContext
  loaded: LoadedConfig
  app: Quartermaster
  sessionId: string | undefined
}

async function answerTo(line: string, { session, loaded, app, sessionId: defaultSession }: Context) {
  try {
    const { agent, tool, input, sessionId = defaultSession } = readQuestion(line)
    const agentId = callingAgent(session, loaded, app, agent)
    const { verdict, code = null, reasons } = await app.why({ agentId, tool, input, sessionId })
    return {
      verdict,
      code,
      reasons: reasons.map(({ check, source, code: reason, sentence }) => ({
        check,
        source,
        code: reason,
        sentence,
      })),
    }
  } catch (error) {
    return { error: errorMessage(error) }
  }
}

/** Reads one line as a call to explain. Throws a sentence when it cannot. */
function readQuestion(line: string): Question {
  const help = 'Write {"agent":"…","tool":"…","input":{…}} on one line.'
  let read: unknown
  try {
    read = JSON.parse(line)
  } catch (error) {
    throw new Error(`The line is not JSON (${(error as Error).message}). ${help}`, { cause: error })
  }
  if (typeof read !== "object" || read === null || Array.isArray(read))
    throw new Error(`The line is not an object. ${help}`)
  const { agent, tool, input = {}, session: sessionId } = read as Record<string, unknown>
  if (typeof tool !== "string" || tool === "") throw new Error(`The line names no tool. ${help}`)
  if (agent !== undefined && typeof agent !== "string") throw new Error(`'agent' must be a string. ${help}`)
  if (sessionId !== undefined && typeof sessionId !== "string") throw new Error(`'session' must be a string. ${help}`)
  return { agent, tool, input, sessionId }
}
