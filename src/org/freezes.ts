import type { QuartermasterEvent } from "../core/events.ts"
import type { Freeze } from "../core/organisation.ts"
import { OrganisationError } from "./organisation-admin.ts"
import type { Documents } from "../core/documents.ts"

/** The id that means every agent. */
export const everyAgent = "*"

/** Freezes and thaws agents. Each change is stored before its promise resolves. */
export function agentFreezes(
  documents: Documents,
  {
    isKnown,
    emit,
    waitForOthers,
  }: {
    isKnown(agentId: string): boolean
    emit(event: QuartermasterEvent): void
    /** Waits long enough for other processes to read the change. They do not acknowledge it. */
    waitForOthers(): Promise<void>
  },
) {
  const announce = (agent: string, change: "frozen" | "thawed") =>
    emit({ type: "AGENT_CHANGED", at: Date.now(), agent, change })
  return {
    async freeze({
      agentId = everyAgent,
      by,
      because,
    }: {
      agentId?: string
      by: string
      because?: string
    }): Promise<void> {
      if (agentId !== everyAgent && !isKnown(agentId)) {
        throw new OrganisationError(
          "agent_not_found",
          `There is no agent '${agentId}'. 'qm agents list' shows who there is.`,
        )
      }
      const body: Freeze = { by, at: Date.now(), because }
      await documents.put({ kind: "freeze", id: agentId, body }, by)
      announce(agentId, "frozen")
      await waitForOthers()
    },
    async thaw({ agentId = everyAgent, by }: { agentId?: string; by: string }): Promise<boolean> {
      const document = documents.get("freeze", agentId)
      if (document?.live !== true) return false
      await documents.put({ kind: "freeze", id: agentId, live: false, body: document.body }, by)
      announce(agentId, "thawed")
      return true
    },
    frozen(): Freeze[] {
      const live = [...documents.all("freeze")].filter((document) => document.live)
      return live.map(({ id, body }) => ({ ...(body as Freeze), agentId: id === everyAgent ? undefined : id }))
    },
  }
}
