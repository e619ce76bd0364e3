import { setMaxListeners } from "node:events"
import { adapterFromOptions } from "../approvals/ask/adapter-from-options.ts"
import { waitingLine } from "../approvals/ask/waiting-line.ts"
import { knownHosts } from "../approvals/card/known-hosts.ts"
import { answerLinks, endOldAnswerLinks } from "../approvals/links/answer-links.ts"
import { answerPins } from "../approvals/links/answer-pins.ts"
import { notifier } from "../approvals/notify.ts"
import { pendingItem } from "../approvals/queue/answer-pending.ts"
import { askers } from "../approvals/queue/askers.ts"
import { approvalsApi } from "../approvals/queue/approvals-api.ts"
import { artifactsApi } from "../call/artifacts-api.ts"
import { callApi } from "../call/call-api.ts"
import { ToolDiscovery } from "../call/discovery.ts"
import { explainCall } from "../call/explain-call.ts"
import { endCallsOf, sweepAll } from "../call/housekeeping.ts"
import { AgentPermits } from "../call/state/permits.ts"
import type { Ports } from "../call/state/ports.ts"
import { LruResultCache } from "../call/state/result-cache.ts"
import { storeText } from "../call/state/store-text.ts"
import { concurrentToolLimit } from "../config/call-settings.ts"
import type { PendingItem } from "../core/approval.ts"
import { silentLogger } from "../core/logger.ts"
import { resumesAutomatically } from "../core/society-conversation.ts"
import { agentTokens, isTokenValid } from "../org/agent-tokens.ts"
import { describeOrphanedAgents } from "../org/orphaned-agents.ts"
import type { Why } from "../policy/explanation.ts"
import { agentTools } from "../registry/agent-tools.ts"
import type { BuiltinTools, Catalog } from "./catalog.ts"
import type { Emitter } from "./emitter.ts"
import type { Organisation } from "./organisation.ts"
import type { PolicyParts } from "./policy.ts"
import type { Setup } from "./setup.ts"
import type { Storage } from "./storage.ts"

export type CallParts = ReturnType<typeof openCalls>

/** The call lifecycle, and the people it asks. */
export function openCalls(
  setup: Setup,
  { storage, emitter, catalog, organisation, builtins, policy: { policy, ...rules } }: Parts,
) {
  const { settings, logger, now } = setup
  const { documents, store } = storage
  const { org, isPerson, personSince } = organisation
  const { registry } = catalog
  const discovery = new ToolDiscovery(registry, org, settings.levelOrder, policy)
  const links = answerLinks({ documents, isPerson, now })
  const permits = new AgentPermits(concurrentToolLimit(setup.config))
  const { notify, tellUnasked } = notices(setup, organisation, links)
  const closer = new AbortController()
  setMaxListeners(0, closer.signal)
  const people = askers()
  people.attach(adapterFromOptions(setup.options.approvals, setup.options.ask))
  const hosts = knownHosts(storage.audit, (name) => registry.get(name), now)
  const ports: Ports = {
    ...storage.ports,
    tools: registry,
    organisation: org,
    policy,
    guards: builtins.guards,
    cache: new LruResultCache(),
    permits,
    undo: builtins.undo,
    findAsker: people.find,
    rolesOf: (person) => org.findPerson(person)?.roles,
    personSince,
    isTokenValid: (tokenId) => isTokenValid(documents, tokenId, now()),
    async resumesAutomatically(sessionId) {
      const found = await store.conversations.get(sessionId)
      return resumesAutomatically(found ?? { id: sessionId, settings: {} })
    },
    isAgent: (name) => org.findPerson(name) === undefined && org.findAgent(name) !== undefined,
    emit: emitter.emit,
    hasListeners: emitter.hasListeners,
    running: new Map(),
    closing: closer.signal,
    logger,
    settings,
    owner: setup.owner,
    async newHosts(list) {
      // Where the log cannot be read, every host counts as new.
      const known = await hosts().catch(() => new Set<string>())
      return list.filter((host) => !known.has(host))
    },
    notify: (row) => notify(pendingItem(row, ports)),
    tellUnasked: (row) => tellUnasked(pendingItem(row, ports)),
    now,
  }
  // Only before the first call: by then the host has registered its own tools, so rules about them do not look unused.
  const { idle, ...calls } = callApi(ports, () => {
    if (logger === silentLogger) return
    for (const { source, sentence } of rules.flaws()) logger.warn(`${source}: ${sentence}`)
    for (const sentence of describeOrphanedAgents(org.listAgents())) logger.warn(sentence)
  })
  org.onTerminated(async (agentIds) => {
    await endCallsOf(agentIds, ports)
    await builtins.processes.endAll((agentId) => agentIds.includes(agentId))
  })
  const why: Why = (request) => explainCall(request, ports, policy)
  const tools = agentTools(registry, discovery, org, settings.askIntent)
  return {
    ports,
    /** Ends abandoned calls and erases expired ones, and conversations last used before `keepMs`. */
    async sweep(keepMs: number): Promise<void> {
      await sweepAll(ports, { documents, conversations: store.conversations, keepMs })
      await endOldAnswerLinks(documents, now())
      await organisation.endOld()
      builtins.undo.sweep()
    },
    /** Nothing starts any more, and what runs is cancelled. */
    stop(): void {
      closer.abort()
      permits.cancelWaiting()
      for (const { cancel } of ports.running.values()) cancel()
    },
    /** Resolves when no call is in progress and everybody was notified. */
    async idle(): Promise<void> {
      await idle()
      await notify.idle()
    },
    api: {
      ...calls,
      ...tools,
      why,
      discovery,
      running: () =>
        Array.from(ports.running, ([callId, { agentId, tool, input, since }]) => ({
          callId,
          agentId,
          tool,
          input,
          since,
        })),
      artifact: artifactsApi(ports),
      storeText: storeText(ports),
      approvals: approvalsApi(ports, documents, people.attach, rules.addApproved),
      rules: rules.rulesApi(ports, storage.audit),
      reachedHosts: hosts,
      answerLinks: links,
      pins: answerPins({ documents, personSince, now }),
      tokens: agentTokens({
        documents,
        isKnown: (agentId) => org.view(agentId) !== undefined,
        isPerson,
        onRevoked: (agentId) => endCallsOf([agentId], ports),
        waitForOthers: storage.waitForOthers,
        now,
      }),
    },
  }
}

export interface Parts {
  storage: Storage
  emitter: Emitter
  catalog: Catalog
  organisation: Organisation
  builtins: BuiltinTools
  policy: PolicyParts
}

/** Returns the notices that something waits: the configured notifications, or a line for the host. */
function notices(
  { config, options, logger, dataDir, print, environment }: Setup,
  { isPerson }: Organisation,
  links: ReturnType<typeof answerLinks>,
) {
  const { publicUrl } = config.server ?? {}
  const notify = notifier(config.notify ?? [], logger, {
    async linkFor(person, { callId, kind, revision }) {
      const problem = linkProblem(publicUrl, isPerson(person), environment["QM_INSIDE"])
      if (problem !== undefined) throw new Error(problem)
      const { secret } = await links.create({ callId, kind, revision, person, isMachineUser: false }, person)
      return new URL(`/answer/${secret}`, publicUrl).href
    },
  })
  const warn = options.logger === undefined ? print : (text: string) => logger.warn(text)
  return { notify, tellUnasked: options.onWaiting ?? ((item: PendingItem) => warn(waitingLine(item, dataDir))) }
}

/** Why no answer link is sent along with a notification. */
function linkProblem(publicUrl: string | undefined, isPerson: boolean, inside: string | undefined): string | undefined {
  if (publicUrl === undefined) return "server.publicUrl is missing. State the address that people open."
  if (!isPerson) return "There is no such person. 'qm people list' shows all people."
  // A program that an agent started must not see it.
  return inside ? "The call was made inside a tool (QM_INSIDE is set)." : undefined
}
