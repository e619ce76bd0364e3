import {
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type ProgressToken,
  type ServerContext,
} from "@modelcontextprotocol/server"
import type { McpChunk } from "../../model/mcp.ts"
import { plainText, wholeCharacters } from "../../model/text.ts"

const levels: readonly LoggingLevel[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
]
const longest = 4000
const longestLog = 16_000
/** A client that reads slowly, or not at all, misses pieces rather than fill the memory; the result has them all. */
const mostUnsent = 1000
const mostCharacters = 16 * 1024 * 1024

/** Tells a client of a call while it is on its way. */
export interface Teller {
  /** Whether the client asked to be told of progress. */
  readonly hasProgress: boolean
  output(chunk: unknown): void
  say(message: string): void
}

/** `level` is what the session has asked for; a request with its own envelope says it itself. */
export function teller(context: ServerContext, era: "legacy" | "modern", level: LoggingLevel | undefined): Teller {
  const token: ProgressToken | undefined = context.mcpReq._meta?.progressToken
  const envelope = context.mcpReq.envelope as Record<string, unknown> | undefined
  const least = era === "modern" ? envelope?.[LOG_LEVEL_META_KEY] : level
  const threshold = levels.indexOf(least as LoggingLevel)
  let unsent = 0
  let told = 0
  let last = -Infinity
  let shift = 0

  const notify = (method: string, params: Record<string, unknown>) => {
    if (unsent >= mostUnsent || told > mostCharacters) return
    told += JSON.stringify(params).length
    unsent += 1
    const sent = () => void (unsent -= 1)
    context.mcpReq.notify({ method, params }).then(sent, sent)
  }
  /** Progress only ever grows: what begins anew, such as the next sub-call, goes on from where it was. */
  const progress = (given: number, total?: number, message?: string) => {
    if (token === undefined || !Number.isFinite(given)) return
    if (given + shift <= last) shift = last + 1 - given
    last = given + shift
    notify("notifications/progress", {
      progressToken: token,
      progress: last,
      ...(total === undefined ? {} : { total: total + shift }),
      ...(message === undefined ? {} : { message: wholeCharacters(message, longest) }),
    })
  }
  const count = (message: string) => progress(Math.max(0, Math.floor(last)) + 1 - shift, undefined, message)
  const log = (given: string, data: unknown, logger?: string) => {
    const found = levels.indexOf(given as LoggingLevel)
    const weight = found === -1 ? 1 : found
    if (threshold === -1 || weight < threshold) return
    const text = JSON.stringify(data) ?? ""
    const told = text.length <= longestLog ? data : `${wholeCharacters(text, longestLog)} [cut]`
    const by = logger === undefined ? {} : { logger: wholeCharacters(logger, 200) }
    notify("notifications/message", { level: levels[weight], ...by, data: told })
  }

  return {
    hasProgress: token !== undefined,
    say: count,
    output(chunk) {
      if (isProgress(chunk)) progress(chunk.progress, chunk.total, chunk.message)
      else if (isLog(chunk)) log(chunk.log.level, chunk.log.data ?? null, chunk.log.logger)
      else {
        const text = plainText(chunk)
        count(text)
        log("info", wholeCharacters(text, longest))
      }
    },
  }
}

function isProgress(chunk: unknown): chunk is Extract<McpChunk, { progress: number }> {
  return isObject(chunk) && typeof chunk["progress"] === "number"
}

function isLog(chunk: unknown): chunk is Extract<McpChunk, { log: unknown }> {
  return isObject(chunk) && isObject(chunk["log"]) && typeof chunk["log"]["level"] === "string"
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null
}
