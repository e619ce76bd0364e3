import { spawn } from "node:child_process"
import { readUrl } from "../model/address.ts"
import type { DeskItem } from "../model/approval.ts"
import type { Logger } from "../model/logger.ts"
import { messageOf } from "../model/message.ts"

/** Who is told: an address, or a command. A list is run as it is, a text by the shell. */
export interface Target {
  webhook?: string | undefined
  command?: string | readonly string[] | undefined
}

/** What waits. Never its input or result: they may hold secrets, and this goes outside. */
export type Notice = Pick<DeskItem, "callId" | "kind" | "agentId" | "tool" | "until">

export interface Notifier {
  /** Returns at once and never throws; what goes wrong is told to the logger. */
  (notice: Notice): void
  /** Resolves when nothing is on its way any more, after ten seconds at the latest. */
  idle(): Promise<void>
}

const usual = { webhookMs: 5_000, commandMs: 10_000, mostAtOnce: 100 }

/** Tells the outside that something waits for a person. Nothing waits for it, and nothing fails because of it. */
export function notifier(targets: readonly Target[], logger: Logger, limits: Partial<typeof usual> = {}): Notifier {
  const { webhookMs, commandMs, mostAtOnce } = { ...usual, ...limits }
  const inFlight = new Set<Promise<void>>()
  const tell = (target: Target, notice: Notice): void => {
    const { webhook, command = [] } = target
    const failed = (why: string) =>
      logger.warn(`${nameOf(target)} was not told that call ${notice.callId} waits: ${why}`)
    if (inFlight.size >= mostAtOnce) return failed(`${mostAtOnce} others are on their way.`)
    const telling = (webhook === undefined ? run(command, notice, commandMs) : post(webhook, notice, webhookMs))
      .catch((error: unknown) => failed(messageOf(error)))
      .finally(() => inFlight.delete(telling))
    inFlight.add(telling)
  }
  // Only these fields, whatever else the caller's object has.
  const notify = ({ callId, kind, agentId, tool, until }: Notice): void =>
    targets.forEach((target) => tell(target, { callId, kind, agentId, tool, until }))
  return Object.assign(notify, { idle: async () => void (await Promise.all(inFlight)) })
}

async function post(webhook: string, notice: Notice, milliseconds: number): Promise<void> {
  const response = await fetch(webhook, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...notice, until: untilText(notice) }),
    redirect: "manual",
    signal: AbortSignal.timeout(milliseconds),
  }).catch((error: unknown) => {
    const { name, cause } = error as Error
    if (name === "TimeoutError") throw new Error(`it did not answer within ${milliseconds / 1000} s.`)
    // Not its own message, which may name the whole address.
    throw new Error(`it cannot be reached (${(cause as NodeJS.ErrnoException | undefined)?.code ?? name}).`)
  })
  await response.body?.cancel().catch(() => {})
  if (!response.ok) throw new Error(`it answered with status ${response.status}.`)
}

/** A group of its own, so that what the command started ends with it. Names stand in variables, never in the words. */
async function run(command: string | readonly string[], notice: Notice, milliseconds: number): Promise<void> {
  const [program = "", ...words] = typeof command === "string" ? [command] : command
  const child = spawn(program, words, {
    shell: typeof command === "string",
    detached: true,
    stdio: "ignore",
    env: { ...process.env, ...variables(notice) },
  })
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      killGroup(child.pid)
      reject(new Error(`it did not end within ${milliseconds / 1000} s and was killed.`))
    }, milliseconds)
    child.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer)
      reject(new Error(`it cannot be run (${error.code ?? error.message}).`))
    })
    child.on("exit", (code, signal) => {
      clearTimeout(timer)
      if (code === 0) resolve()
      else reject(new Error(`it ended with ${signal ?? `exit code ${code}`}.`))
    })
  })
}

function variables(notice: Notice): Record<string, string> {
  const { callId, kind, agentId, tool } = notice
  const texts = { CALL_ID: callId, KIND: kind, AGENT: agentId, TOOL: tool, UNTIL: untilText(notice) ?? "" }
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`QM_NOTIFY_${name}`, text.replaceAll("\0", "")]),
  )
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL")
  } catch {
    // It ended at this very moment.
  }
}

function untilText({ until }: Notice): string | null {
  return Number.isFinite(until) ? new Date(until).toISOString() : null
}

/** Without the path of an address or the words of a command, which may be secret. */
function nameOf({ webhook, command = "" }: Target): string {
  if (webhook !== undefined) return `The webhook at ${readUrl(webhook)?.host ?? "a wrong address"}`
  return `The command '${typeof command === "string" ? command.split(/\s/)[0] : command[0]}'`
}
