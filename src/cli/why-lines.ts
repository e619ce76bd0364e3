import { createInterface } from "node:readline"
import type { App } from "../model/app.ts"
import type { Session } from "./house.ts"
import { jsonText, onReaderGone, written } from "./output.ts"
import { agentOf, withApp } from "./session.ts"

/** Answers each line of stdin with a line: what would become of that call, or what is wrong with the line. */
export function whyLines(session: Session, sessionId: string | undefined): Promise<number> {
  const { io, house } = session
  let isRead = true
  onReaderGone(io.stdout, () => (isRead = false))
  return withApp(session, {}, async (app, loaded) => {
    const agentId = agentOf(session, loaded)
    for await (const line of createInterface({ input: io.stdin, crlfDelay: Infinity })) {
      if (!isRead) break
      await written(io.stdout, `${jsonText(await answerTo(line, { agentId, sessionId }, app), house)}\n`)
    }
    return 0
  })
}

interface Asked {
  agentId: string
  tool: string
  input: unknown
  sessionId: string | undefined
}

async function answerTo(line: string, usual: Pick<Asked, "agentId" | "sessionId">, app: Pick<App, "why">) {
  try {
    const { verdict, code = null, reasons } = await app.why(readQuestion(line, usual))
    return { verdict, code, reasons: reasons.map(({ voice, source, sentence }) => ({ voice, source, sentence })) }
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

/** One line as a call that somebody asks about. Throws a sentence. */
export function readQuestion(line: string, usual: Pick<Asked, "agentId" | "sessionId">): Asked {
  const help = 'Write {"agent":"…","tool":"…","input":{…}} on one line.'
  let read: unknown
  try {
    read = JSON.parse(line)
  } catch (error) {
    throw new Error(`The line is not JSON (${(error as Error).message}). ${help}`, { cause: error })
  }
  if (typeof read !== "object" || read === null || Array.isArray(read))
    throw new Error(`The line is no object. ${help}`)
  const { agent = usual.agentId, tool, input = {}, session = usual.sessionId } = read as Record<string, unknown>
  if (typeof tool !== "string" || tool === "") throw new Error(`The line names no tool. ${help}`)
  if (typeof agent !== "string") throw new Error(`'agent' is not a text. ${help}`)
  if (session !== undefined && typeof session !== "string") throw new Error(`'session' is not a text. ${help}`)
  return { agentId: agent, tool, input, sessionId: session }
}
