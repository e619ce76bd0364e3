import { createInterface } from "node:readline"
import type { App } from "../model/app.ts"
import { messageOf } from "../model/message.ts"
import { agentOf } from "./caller.ts"
import type { Loaded, Session } from "./house.ts"
import { jsonText, onReaderGone, written } from "./output.ts"
import { withApp } from "./session.ts"

/** Answers each line of stdin with a line: what would become of that call, or what is wrong with the line; then exit 1. */
export function whyLines(session: Session, sessionId: string | undefined): Promise<number> {
  const { io, house } = session
  let isRead = true
  onReaderGone(io.stdout, () => (isRead = false))
  return withApp(session, {}, async (app, loaded) => {
    let code = 0
    for await (const line of createInterface({ input: io.stdin, crlfDelay: Infinity })) {
      if (!isRead) break
      const answer = await answerTo(line, { session, loaded, app, sessionId })
      if ("error" in answer) code = 1
      await written(io.stdout, `${jsonText(answer, house)}\n`)
    }
    return code
  })
}

interface Asked {
  agent: string | undefined
  tool: string
  input: unknown
  sessionId: string | undefined
}

interface Asking {
  session: Session
  loaded: Loaded
  app: App
  sessionId: string | undefined
}

async function answerTo(line: string, { session, loaded, app, sessionId: usual }: Asking) {
  try {
    const { agent, tool, input, sessionId = usual } = readQuestion(line)
    const agentId = agentOf(session, loaded, app, agent)
    const { verdict, code = null, reasons } = await app.why({ agentId, tool, input, sessionId })
    return { verdict, code, reasons: reasons.map(({ voice, source, sentence }) => ({ voice, source, sentence })) }
  } catch (error) {
    return { error: messageOf(error) }
  }
}

/** One line as a call that somebody asks about. Throws a sentence. */
function readQuestion(line: string): Asked {
  const help = 'Write {"agent":"…","tool":"…","input":{…}} on one line.'
  let read: unknown
  try {
    read = JSON.parse(line)
  } catch (error) {
    throw new Error(`The line is not JSON (${(error as Error).message}). ${help}`, { cause: error })
  }
  if (typeof read !== "object" || read === null || Array.isArray(read))
    throw new Error(`The line is no object. ${help}`)
  const { agent, tool, input = {}, session: sessionId } = read as Record<string, unknown>
  if (typeof tool !== "string" || tool === "") throw new Error(`The line names no tool. ${help}`)
  if (agent !== undefined && typeof agent !== "string") throw new Error(`'agent' is not a text. ${help}`)
  if (sessionId !== undefined && typeof sessionId !== "string") throw new Error(`'session' is not a text. ${help}`)
  return { agent, tool, input, sessionId }
}
