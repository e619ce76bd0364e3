import type { Conversations } from "../core/conversation.ts"
import type { Documents, StoredDocument } from "../core/documents.ts"
import {
  scopes as allScopes,
  sessionModes,
  type AgentView,
  type ModeChange,
  type ModeInForce,
  type SessionMode,
} from "../core/organisation.ts"
import { isStillThere } from "../core/approval.ts"
import { OrganisationError } from "./organisation-admin.ts"
import { shellWord } from "../lib/shell-word.ts"

/** The mode edits ends after this time, also when its session goes on. */
export const editsMs = 8 * 60 * 60_000

type ModeDocument = StoredDocument<ModeInForce>
type Who = Pick<AgentView, "agent" | "ancestors">

/** A session id is chosen by whoever calls, so a mode belongs to an agent: plan to all its sessions, edits to one. */
const modeId = (agentId: string, sessionId?: string) =>
  JSON.stringify(sessionId === undefined ? [agentId] : [agentId, sessionId])

export interface ModeParts {
  view(agentId: string): Who | undefined
  conversations: Pick<Conversations, "get">
  personSince(id: string): string | undefined
  /** Waits long enough for other processes to read the change. They do not acknowledge it. */
  waitForOthers(): Promise<void>
  now(): number
}

/** Sets, ends and lists the modes of agents. Each change is stored before its promise resolves. */
export function agentModes(documents: Documents, parts: ModeParts) {
  const { view, conversations, personSince, waitForOthers, now } = parts
  /** Modes from before they belonged to an agent hold no more. */
  const isInForce = ({ live, body }: ModeDocument) =>
    live &&
    body.agentId !== undefined &&
    (body.until === undefined || now() < body.until) &&
    isStillThere(body, personSince)
  const find = (agentId: string, sessionId?: string): ModeInForce | undefined => {
    const document = documents.get("mode", modeId(agentId, sessionId)) as ModeDocument | undefined
    return document !== undefined && isInForce(document) ? document.body : undefined
  }
  const live = () => [...(documents.all("mode") as Iterable<ModeDocument>)].filter((document) => document.live)
  const end = async (ended: readonly ModeDocument[], by: string) => {
    for (const { id, body } of ended) await documents.put({ kind: "mode", id, live: false, body }, by)
  }
  /** A plan of an agent holds for those below it too, as its other limits do. */
  const planOver = ({ agent, ancestors }: Who): ModeInForce | undefined => {
    for (const { id } of [agent, ...ancestors.map((each) => each.agent)]) {
      const plan = find(id)
      if (plan !== undefined) return plan
    }
    return undefined
  }
  const refuseUnderPlan = (who: Who | undefined) => {
    const plan = who && planOver(who)
    if (plan === undefined) return
    const { agentId } = plan
    throw new OrganisationError(
      "plan_in_force",
      `The mode plan of agent '${agentId}' holds here. End it with: qm mode ask --agent ${shellWord(agentId)}`,
      { agent: agentId },
    )
  }
  const began = async (person: string, { agentId, sessionId }: Pick<ModeInForce, "agentId" | "sessionId">) => {
    const found = sessionId === undefined ? undefined : await conversations.get(sessionId)
    // A conversation that no person began has its agent's id there, and a person may have the same name.
    return found?.agentId === agentId && found.startedBy === person && person !== agentId
  }

  async function setMode({ agentId, sessionId, mode, by, scopes = allScopes }: ModeChange): Promise<void> {
    if (!sessionModes.includes(mode))
      throw new OrganisationError(
        "unknown_mode",
        `There is no mode '${mode}'. Choose one of: ${sessionModes.join(", ")}.`,
      )
    await documents.refresh()
    const who = view(agentId)
    const own = live().filter(({ body }) => body.agentId === agentId)
    if (who === undefined && !(mode === "ask" && own.length > 0))
      throw new OrganisationError(
        "agent_not_found",
        `There is no agent '${agentId}'. 'qm agents list' shows who there is.`,
      )
    const plan = find(agentId)
    const loosened = mode === "edits" ? { agentId, sessionId } : mode === "ask" ? plan : undefined
    if (loosened !== undefined && !scopes.includes("manage") && !(await began(by, loosened)))
      throw new OrganisationError(
        "mode_not_yours",
        "Only people with the scope manage, or the person who began that conversation, set the mode edits or end the mode plan. Ask one of them.",
      )

    const edits = own.filter(({ body }) => body.mode === "edits")
    if (mode === "edits") {
      if (sessionId === undefined)
        throw new OrganisationError("invalid_session", "The mode edits is for one session. Name it with sessionId.")
      refuseUnderPlan(who)
      const at = now()
      const since = personSince(by) ?? null
      const body: ModeInForce = { agentId, sessionId, mode, by, since, at, until: at + editsMs }
      await documents.put({ kind: "mode", id: modeId(agentId, sessionId), body }, by)
    } else if (mode === "plan") {
      // Edits that were allowed before a plan do not come back after it.
      await end(edits, by)
      const body: ModeInForce = { agentId, sessionId, mode, by, at: now() }
      if (plan === undefined) await documents.put({ kind: "mode", id: modeId(agentId), body }, by)
    } else {
      const plans = own.filter(({ body }) => body.mode === "plan")
      const here = edits.filter(({ body }) => sessionId === undefined || body.sessionId === sessionId)
      await end([...plans, ...here], by)
      refuseUnderPlan(who)
    }
    await waitForOthers()
  }

  const endEdits = (isOver: (body: ModeInForce) => boolean) =>
    end(
      live().filter(({ body }) => body.mode === "edits" && isOver(body)),
      "housekeeping",
    )
  return {
    setMode,
    modeOf: (who: Who, sessionId: string): SessionMode =>
      (planOver(who) ?? find(who.agent.id, sessionId))?.mode ?? "ask",
    modes: (): ModeInForce[] =>
      live()
        .filter((document) => isInForce(document))
        .map(({ body: { since: _since, ...mode } }) => mode),
    endSession: (sessionId: string) => endEdits((body) => body.sessionId === sessionId),
    endAgents: (agentIds: readonly string[]) => endEdits((body) => agentIds.includes(body.agentId)),
    endOldModes: () =>
      end(
        live().filter((document) => !isInForce(document)),
        "housekeeping",
      ),
  }
}
