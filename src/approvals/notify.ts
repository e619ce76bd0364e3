import { spawn } from "node:child_process"
import { parseUrl } from "../lib/url.ts"
import type { PendingItem } from "../core/approval.ts"
import type { Logger } from "../core/logger.ts"
import { errorMessage } from "../lib/error-message.ts"

/** A webhook or a command. A list is run as it is, a text by the shell. */
export interface NotifyTarget {
  webhook?: string
  command?: string | readonly string[]
  /** The person whose answer link is sent along. */
  person?: string
}

/**
 * Says what waits. It never has input or result: they may hold secrets, and notices leave the machine. The title can name one
 * file, host or database.
 */
export interface Notice extends Pick<PendingItem, "callId" | "kind" | "agentId" | "tool" | "until" | "revision"> {
  title: string
  risk: PendingItem["risk"]["band"]
}

type NotifiedItem = Pick<PendingItem, keyof Notice>

/** Only these fields, whatever else an item has. */
function noticeOf({ callId, kind, agentId, tool, until, revision, title, risk }: NotifiedItem): Notice {
  return { callId, kind, agentId, tool, until, revision, title: title.text, risk: risk.band }
}

/** A notice as it is sent, with a link that answers it where one was made. */
type SentNotice = Notice & { link?: string }

/** Makes a link with which a person answers. Throws a sentence when there can be none. */
type LinkFor = (person: string, notice: Notice) => Promise<string>

export interface Notifier {
  /** Returns at once and never throws; failures are logged. */
  (item: NotifiedItem): void
  /** Resolves when no notification is in progress any more, after ten seconds at the latest. */
  idle(): Promise<void>
}

const defaults = { webhookMs: 5_000, commandMs: 10_000, mostAtOnce: 100 }

/** Sends notifications that something waits for a person. Calls neither wait for them nor fail with them. */
export function notifier(
  targets: readonly NotifyTarget[],
  logger: Logger,
  { linkFor, ...limits }: Partial<typeof defaults> & { linkFor?: LinkFor } = {},
): Notifier {
  const { webhookMs, commandMs, mostAtOnce } = { ...defaults, ...limits }
  const inFlight = new Set<Promise<void>>()
  /** The notice for this target. If its link cannot be made, the notice is sent without. */
  const withLink = async ({ person }: NotifyTarget, notice: Notice): Promise<SentNotice> => {
    if (person === undefined || linkFor === undefined) return notice
    try {
      return { ...notice, link: await linkFor(person, notice) }
    } catch (error) {
      logger.warn(`No answer link of ${person} was sent for call ${notice.callId}: ${errorMessage(error)}`)
      return notice
    }
  }
  const send = (target: NotifyTarget, notice: Notice): void => {
    const { webhook, command = [] } = target
    const failed = (why: string) =>
      logger.warn(`${nameOf(target)} could not be notified that call ${notice.callId} waits: ${why}`)
    if (inFlight.size >= mostAtOnce) return failed(`${mostAtOnce} notifications are in progress.`)
    const sending = withLink(target, notice)
      .then((sent) => (webhook === undefined ? run(command, sent, commandMs) : post(webhook, sent, webhookMs)))
      .catch((error: unknown) => failed(errorMessage(error)))
      .finally(() => inFlight.delete(sending))
    inFlight.add(sending)
  }
  const notify = (item: NotifiedItem): void => targets.forEach((target) => send(target, noticeOf(item)))
  return Object.assign(notify, { idle: async () => void (await Promise.all(inFlight)) })
}

async function post(webhook: string, notice: SentNotice, milliseconds: number): Promise<void> {
  const response = await fetch(webhook, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ ...notice, until: untilText(notice) }),
    redirect: "manual",
    signal: AbortSignal.timeout(milliseconds),
  }).catch((error: unknown) => {
    const { name, cause } = error as Error
    if (name === "TimeoutError") throw new Error(`it did not answer within ${milliseconds / 1000} s.`)
    // Not the message of the error, which may contain the whole address.
    throw new Error(`it cannot be reached (${(cause as NodeJS.ErrnoException | undefined)?.code ?? name}).`)
  })
  await response.body?.cancel().catch(() => {})
  if (!response.ok) throw new Error(`it answered with status ${response.status}.`)
}

/**
 * Runs the command in a process group of its own, so that what it started ends with it. The notice is in environment
 * variables, never in the arguments.
 */
async function run(command: string | readonly string[], notice: SentNotice, milliseconds: number): Promise<void> {
  const [program = "", ...args] = typeof command === "string" ? [command] : command
  const child = spawn(program, args, {
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

function variables(notice: SentNotice): Record<string, string> {
  const { callId, kind, agentId, tool, title, risk, link } = notice
  const until = untilText(notice) ?? ""
  const call = { CALL_ID: callId, KIND: kind, AGENT: agentId, TOOL: tool, TITLE: title, RISK: risk, UNTIL: until }
  const texts = { ...call, ...(link && { LINK: link }) }
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [`QM_NOTIFY_${name}`, text.replaceAll("\0", "")]),
  )
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return
  try {
    process.kill(process.platform === "win32" ? pid : -pid, "SIGKILL")
  } catch {
    // It has just ended.
  }
}

function untilText({ until }: Notice): string | null {
  return Number.isFinite(until) ? new Date(until).toISOString() : null
}

/** The name for log lines, without the path of an address or the arguments of a command, which may be secret. */
function nameOf({ webhook, command = "" }: NotifyTarget): string {
  if (webhook !== undefined) return `The webhook at ${parseUrl(webhook)?.host ?? "a wrong address"}`
  return `The command '${typeof command === "string" ? command.split(/\s/)[0] : command[0]}'`
}
