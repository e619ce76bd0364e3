import { Ending } from "../model/ending.ts"
import type { Documents } from "../model/documents.ts"
import type { Ports } from "../model/ports.ts"
import type { Grant } from "../model/rule.ts"

/** How often what other processes changed is looked for. */
const watchMs = 100

const dayMs = 24 * 60 * 60 * 1000

/**
 * Sees what other processes changed. A call that runs for a frozen or ended agent is cancelled, and what its calls left
 * running is ended.
 */
export function watchDocuments(
  ports: Ports,
  documents: Documents,
  endLeft: (isStopped: (agentId: string) => boolean) => Promise<void>,
): NodeJS.Timeout {
  const isStopped = (agentId: string) => {
    const who = ports.organisation.view(agentId)
    return who === undefined || who.frozen !== undefined
  }
  documents.onChange(() => {
    void endLeft(isStopped)
    for (const { agentId, cancel } of ports.running.values()) {
      const who = ports.organisation.view(agentId)
      if (who === undefined) cancel(new Ending("aborted", `Agent ${agentId} was ended, and its calls with it.`))
      else if (who.frozen !== undefined) {
        cancel(new Ending("frozen", `Agent ${agentId} was frozen by ${who.frozen.by} while the tool ran.`))
      }
    }
  })
  return setInterval(() => {
    documents.refresh().catch((error: unknown) => {
      ports.logger.error("Changes of other processes could not be read.", error)
    })
  }, watchMs).unref()
}

/** Resolves when every other process has seen what was kept by now. */
export function seenEverywhere(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 2.5 * watchMs))
}

/** Ends what nobody came back for and forgets what is over, again and again; never, when the time is 0. */
export function startSweeper(ports: Ports, documents: Documents, everyMs: number): NodeJS.Timeout | undefined {
  if (everyMs === 0) return undefined
  return setInterval(() => {
    sweepAll(ports, documents).catch((error: unknown) =>
      ports.logger.error("What nobody came back for could not be ended.", error),
    )
  }, everyMs).unref()
}

/** One round of it. */
export async function sweepAll(ports: Ports, documents: Documents): Promise<void> {
  const { sweep } = await import("./abandoned.ts")
  const { keyWindowMs } = await import("./states.ts")
  await sweep(ports)
  await ports.calls.erase(ports.now() - keyWindowMs)
  await forgetGrants(documents, ports.now() - dayMs)
}

/** Ends the waiting calls of agents that are no more. */
export async function endCallsOf(agentIds: readonly string[], ports: Ports): Promise<void> {
  const { sweep } = await import("./abandoned.ts")
  for (const agentId of agentIds) await sweep(ports, agentId)
}

async function forgetGrants(documents: Documents, before: number): Promise<void> {
  for (const { id, live, body, change } of documents.all("grant")) {
    const { expiresAt } = body as Grant
    if (!live || expiresAt === null || expiresAt >= before) continue
    await documents.put({ kind: "grant", id, live: false, body }, "housekeeping", change)
  }
}
