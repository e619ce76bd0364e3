import type { QuartermasterEvent } from "../model/events.ts"
import type { Freeze, SessionMode } from "../model/organisation.ts"
import { sessionModes } from "../model/organisation.ts"
import { OrganisationError } from "../model/organisation-book.ts"
import type { Documents } from "../model/documents.ts"

/** The id that stands for every agent. */
export const everyone = "*"

/** Stops and starts agents, and sets how strict a session is. Everything is kept before it resolves. */
export function freezer(
  documents: Documents,
  {
    isKnown,
    emit,
    everywhere,
  }: {
    isKnown(agentId: string): boolean
    emit(event: QuartermasterEvent): void
    /** Resolves when other processes have seen what was done. */
    everywhere(): Promise<void>
  },
) {
  const tell = (agent: string, change: "frozen" | "thawed") =>
    emit({ type: "AGENT_CHANGED", at: Date.now(), agent, change })
  return {
    async freeze({
      agentId = everyone,
      by,
      because,
    }: {
      agentId?: string | undefined
      by: string
      because?: string | undefined
    }): Promise<void> {
      if (agentId !== everyone && !isKnown(agentId)) {
        throw new OrganisationError(
          "agent_not_found",
          `There is no agent '${agentId}'. 'qm agents list' shows who there is.`,
        )
      }
      const body: Freeze = { by, at: Date.now(), because }
      await documents.put({ kind: "freeze", id: agentId, body }, by)
      tell(agentId, "frozen")
      await everywhere()
    },
    async thaw({ agentId = everyone, by }: { agentId?: string | undefined; by: string }): Promise<boolean> {
      const document = documents.get("freeze", agentId)
      if (document?.live !== true) return false
      await documents.put({ kind: "freeze", id: agentId, live: false, body: document.body }, by)
      tell(agentId, "thawed")
      return true
    },
    frozen(): (Freeze & { agentId?: string | undefined })[] {
      const live = [...documents.all("freeze")].filter((document) => document.live)
      return live.map(({ id, body }) => ({ ...(body as Freeze), agentId: id === everyone ? undefined : id }))
    },
    async setMode({ sessionId, mode, by }: { sessionId: string; mode: SessionMode; by: string }): Promise<void> {
      if (!sessionModes.includes(mode)) {
        throw new OrganisationError(
          "unknown_mode",
          `There is no mode '${mode}'. Choose one of: ${sessionModes.join(", ")}.`,
        )
      }
      await documents.put({ kind: "mode", id: sessionId, live: mode !== "ask", body: { mode, by, at: Date.now() } }, by)
      await everywhere()
    },
    modeOf(sessionId: string): SessionMode {
      const document = documents.get("mode", sessionId)
      return document?.live === true ? (document.body as { mode: SessionMode }).mode : "ask"
    },
  }
}
