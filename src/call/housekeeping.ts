import { Ending } from "../core/ending.ts"
import type { Conversations } from "../core/conversation.ts"
import type { Documents } from "../core/documents.ts"
import type { Ports } from "./state/ports.ts"
import type { Grant } from "../core/rule.ts"
import { agentEndedSentence } from "./state/stopped-endings.ts"

/** Interval at which a process reads changes made by other processes. */
const watchMs = 100

const dayMs = 24 * 60 * 60 * 1000

/**
 * Reads what other processes changed, again and again. Cancels running calls of frozen or ended agents, and ends what
 * their calls left running.
 */
export function watchDocuments(
  ports: Ports,
  documents: Documents,
  endLeftovers: (isStopped: (agentId: string) => boolean) => Promise<void>,
): NodeJS.Timeout {
  const isStopped = (agentId: string) => {
    const who = ports.organisation.view(agentId)
    return who === undefined || who.frozen !== undefined
  }
  documents.onChange(() => {
    void endLeftovers(isStopped)
    for (const { agentId, cancel } of ports.running.values()) {
      const who = ports.organisation.view(agentId)
      if (who === undefined) cancel(new Ending("aborted", agentEndedSentence(agentId)))
      else if (who.frozen !== undefined) {
        cancel(new Ending("frozen", `Agent ${agentId} was frozen by ${who.frozen.by} while the tool ran.`))
      }
    }
  })
  return setInterval(() => {
    documents.refresh().catch((error: unknown) => {
      ports.logger.error("Changes by other processes could not be read.", error)
    })
  }, watchMs).unref()
}

/**
 * Gives other processes time to read what was written: each reads every `watchMs`. They do not acknowledge it, so a busy
 * process may read it only after this resolves.
 */
export function waitForOtherProcesses(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 2.5 * watchMs))
}

/** Ends abandoned calls and erases expired data, every `everyMs` milliseconds; never if that is 0. */
export function startSweeper(sweepAll: () => Promise<void>, ports: Ports, everyMs: number): NodeJS.Timeout | undefined {
  if (everyMs === 0) return undefined
  return setInterval(() => {
    sweepAll().catch((error: unknown) => ports.logger.error("Abandoned calls could not be ended.", error))
  }, everyMs).unref()
}

/** Does that once. Conversations are erased `keepMs` after they were last used. */
export async function sweepAll(
  ports: Ports,
  { documents, conversations, keepMs }: { documents: Documents; conversations: Conversations; keepMs: number },
): Promise<void> {
  const { sweep } = await import("./stored/abandoned.ts")
  const { keyWindowMs } = await import("../store/stored-request.ts")
  await sweep(ports)
  await conversations.erase(ports.now() - keepMs)
  await ports.calls.erase(ports.now() - keyWindowMs)
  await forgetGrants(documents, ports.now() - dayMs)
}

/** Ends the waiting calls of agents that were ended. */
export async function endCallsOf(agentIds: readonly string[], ports: Ports): Promise<void> {
  const { sweep } = await import("./stored/abandoned.ts")
  for (const agentId of agentIds) await sweep(ports, agentId)
}

async function forgetGrants(documents: Documents, before: number): Promise<void> {
  for (const { id, live, body, change } of documents.all("grant")) {
    const { expiresAt } = body as Grant
    if (!live || expiresAt === null || expiresAt >= before) continue
    await documents.put({ kind: "grant", id, live: false, body }, "housekeeping", change)
  }
}
