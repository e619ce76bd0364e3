import { chainTurns, currentRun, messagesIn } from "../agents/context/turns.ts"
import { agentLimits } from "../config/call-settings.ts"
import { Directory } from "../org/directory.ts"
import { agentFreezes } from "../org/freezes.ts"
import { agentModes } from "../org/modes.ts"
import { endOldSessions, signIn } from "../org/sign-in.ts"
import type { GroupCatalog } from "../org/write-document.ts"
import type { Emitter } from "./emitter.ts"
import type { Setup } from "./setup.ts"
import type { Storage } from "./storage.ts"

export type Organisation = ReturnType<typeof openOrganisation>

/** People, roles and agents, and what they are allowed and stopped by. */
export function openOrganisation(setup: Setup, storage: Storage, { emit }: Emitter, groups: GroupCatalog) {
  const { config, settings, now } = setup
  const { store, documents, waitForOthers } = storage
  const org = new Directory({
    config: config.org ?? {},
    documents,
    messages: store.messages,
    conversations: {
      get: (id) => store.conversations.get(id),
      readInRun: async (id) => messagesIn(currentRun(chainTurns(await store.conversations.turns(id)))),
    },
    limits: agentLimits(config),
    groups,
    levelOrder: settings.levelOrder,
    emit,
  })
  const isPerson = (id: string) => org.findPerson(id)?.status === "active"
  const personSince = (id: string) => (isPerson(id) ? (org.findPerson(id)?.createdAt ?? "") : undefined)
  const freezes = agentFreezes(documents, {
    isKnown: (agentId) => org.findAgent(agentId) !== undefined,
    emit,
    waitForOthers,
  })
  const modes = agentModes(documents, {
    view: (agentId) => org.view(agentId),
    conversations: store.conversations,
    personSince,
    waitForOthers,
    now,
  })
  org.onTerminated((agentIds) => modes.endAgents(agentIds))
  return {
    org,
    isPerson,
    personSince,
    modes,
    async endOld(): Promise<void> {
      await endOldSessions(documents, now())
      await modes.endOldModes()
    },
    api: {
      org,
      freeze: freezes.freeze,
      thaw: freezes.thaw,
      frozen: freezes.frozen,
      setMode: modes.setMode,
      modes: modes.modes,
      modeOf(agentId: string, sessionId: string) {
        const who = org.view(agentId)
        return who === undefined ? "ask" : modes.modeOf(who, sessionId)
      },
      endSession: modes.endSession,
      signIn: signIn({
        documents,
        isPerson,
        personOfToken: (token) => org.personOfToken(token),
        isTokenOf: (id, tokenHash) => org.isTokenOf(id, tokenHash),
        now,
      }),
    },
  }
}
