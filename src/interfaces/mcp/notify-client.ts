import { isObject } from "../../lib/is-object.ts"
import {
  LOG_LEVEL_META_KEY,
  type LoggingLevel,
  type ProgressToken,
  type ServerContext,
} from "@modelcontextprotocol/server"
import type { McpChunk } from "../../core/mcp.ts"
import { resultAsText, wholeCharacters } from "../../core/model-text.ts"

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
const maxMessageCharacters = 4000
const maxLogCharacters = 16_000
/** Notifications beyond these limits are dropped, so that a slow client cannot fill the memory; the result is complete. */
const maxUnsent = 1000
const maxCharacters = 16 * 1024 * 1024

/** Sends progress and log notifications to a client while its call runs. */
export interface ClientNotifier {
  /** True when the client asked for progress. */
  readonly hasProgress: boolean
  output(chunk: unknown): void
  report(message: string): void
}

/** `level` is the session's log level; a request with its own envelope carries its own. */
export function clientNotifier(
  context: ServerContext,
  era: "legacy" | "modern",
  level: LoggingLevel | undefined,
): ClientNotifier {
  const token: ProgressToken | undefined = context.mcpReq._meta?.progressToken
  const envelope = context.mcpReq.envelope as Record<string, unknown> | undefined
  const minimumLevel = era === "modern" ? envelope?.[LOG_LEVEL_META_KEY] : level
  const threshold = levels.indexOf(minimumLevel as LoggingLevel)
  let unsent = 0
  let sentCharacters = 0
  let lastProgress = -Infinity
  let offset = 0

  const notify = (method: string, params: Record<string, unknown>) => {
    if (unsent >= maxUnsent || sentCharacters > maxCharacters) return
    sentCharacters += JSON.stringify(params).length
    unsent += 1
    const sent = () => void (unsent -= 1)
    context.mcpReq.notify({ method, params }).then(sent, sent)
  }
  /** Progress must only grow, so a source that starts again, such as the next sub-call, is shifted. */
  const progress = (value: number, total?: number, message?: string) => {
    if (token === undefined || !Number.isFinite(value)) return
    if (value + offset <= lastProgress) offset = lastProgress + 1 - value
    lastProgress = value + offset
    notify("notifications/progress", {
      progressToken: token,
      progress: lastProgress,
      ...(total === undefined ? {} : { total: total + offset }),
      ...(message === undefined ? {} : { message: wholeCharacters(message, maxMessageCharacters) }),
    })
  }
  const count = (message: string) => progress(Math.max(0, Math.floor(lastProgress)) + 1 - offset, undefined, message)
  const log = (name: string, data: unknown, logger?: string) => {
    const found = levels.indexOf(name as LoggingLevel)
    const weight = found === -1 ? 1 : found
    if (threshold === -1 || weight < threshold) return
    const text = JSON.stringify(data) ?? ""
    const shortened = text.length <= maxLogCharacters ? data : `${wholeCharacters(text, maxLogCharacters)} [cut]`
    const by = logger === undefined ? {} : { logger: wholeCharacters(logger, 200) }
    notify("notifications/message", { level: levels[weight], ...by, data: shortened })
  }

  return {
    hasProgress: token !== undefined,
    report: count,
    output(chunk) {
      if (isProgress(chunk)) progress(chunk.progress, chunk.total, chunk.message)
      else if (isLog(chunk)) log(chunk.log.level, chunk.log.data ?? null, chunk.log.logger)
      else {
        const text = resultAsText(chunk)
        count(text)
        log("info", wholeCharacters(text, maxMessageCharacters))
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
