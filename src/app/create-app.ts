import { setMaxListeners } from "node:events"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { loopTools } from "../agents/chain/loop-tools.ts"
import { openChains } from "../agents/chain/open-chains.ts"
import { chainTurns, currentRun, messagesIn } from "../agents/context/turns.ts"
import type { PipelineApp } from "../agents/pipeline/tool-pipeline.ts"
import { openPipelines } from "../agents/pipeline/open-pipelines.ts"
import { runPipelineTool } from "../agents/pipeline/run-pipeline-tool.ts"
import { mailOf } from "../agents/society/mail.ts"
import { societyOptions } from "../agents/society/run-options.ts"
import { openSociety } from "../agents/society/society.ts"
import { keyVariables, openModels } from "../agents/models/open-models.ts"
import { adapterFromOptions } from "../approvals/ask/adapter-from-options.ts"
import { notifier } from "../approvals/notify.ts"
import { waitingLine } from "../approvals/ask/waiting-line.ts"
import { printable } from "../lib/printable.ts"
import { homeFolder, openBuiltins } from "./builtin.ts"
import { builtinModules, moduleRuntimes } from "./builtin-modules.ts"
import { artifactsApi } from "../call/artifacts-api.ts"
import { storeText } from "../call/state/store-text.ts"
import { LruResultCache } from "../call/state/result-cache.ts"
import { pendingItem } from "../approvals/queue/answer-pending.ts"
import { approvalsApi } from "../approvals/queue/approvals-api.ts"
import { ToolDiscovery } from "../call/discovery.ts"
import { callApi } from "../call/call-api.ts"
import { ToolExecutor } from "./executor.ts"
import { endCallsOf, startSweeper, sweepAll, waitForOtherProcesses, watchDocuments } from "../call/housekeeping.ts"
import { AgentPermits } from "../call/state/permits.ts"
import { createPolicy } from "../policy/decide/create-policy.ts"
import { keyWindowMs } from "../store/stored-request.ts"
import { explainCall } from "../call/explain-call.ts"
import { refuseBadConfig } from "../config/check-configuration.ts"
import { requireFolderOfProgram } from "../config/known-folders.ts"
import { databaseSecrets } from "../config/databases-schema.ts"
import { listenAddress } from "../config/listen-address.ts"
import { readOnlyTrusted, serverSpecs } from "../config/mcp-servers.ts"
import { modelEntries } from "../config/models-schema.ts"
import { pluginEntries } from "../config/plugins.ts"
import type { Config } from "../config/schema.ts"
import { agentLimits, callSettings, chainSettings, concurrentToolLimit } from "../config/call-settings.ts"
import { Emitter } from "./emitter.ts"
import { startMcpServers } from "../mcp-servers/servers.ts"
import { httpOrigin } from "../lib/url.ts"
import type { PendingItem } from "../core/approval.ts"
import type { ConversationContexts } from "../tools/context/context.ts"
import { silentLogger, type Logger } from "../core/logger.ts"
import { describeOrphanedAgents } from "../org/orphaned-agents.ts"
import type { Ports } from "../call/state/ports.ts"
import { goesOnByItself } from "../core/society-conversation.ts"
import { agentTokens, isTokenValid } from "../org/agent-tokens.ts"
import { answerLinks, endOldAnswerLinks } from "../approvals/links/answer-links.ts"
import { answerPins } from "../approvals/links/answer-pins.ts"
import { endOldSessions, signIn } from "../org/sign-in.ts"
import { Directory } from "../org/directory.ts"
import { agentFreezes } from "../org/freezes.ts"
import { agentModes } from "../org/modes.ts"
import { hasRole } from "../policy/has-role.ts"
import type { Quartermaster, QuartermasterOptions } from "./quartermaster.ts"
import { openRegistry } from "../registry/open-registry.ts"
import { pluginCatalog } from "../registry/plugins/catalog.ts"
import { agentTools } from "../registry/agent-tools.ts"
import { healthOf } from "../store/sqlite/health.ts"
import { sealKey } from "../store/sqlite/record-key.ts"
import { hasCallsLeft } from "../store/sqlite/lazy.ts"
import { lazyAudit } from "../audit/lazy-audit.ts"
import { masker } from "../audit/mask.ts"
import { newOwnerName } from "../store/sqlite/owner.ts"
import { storePorts } from "./storage.ts"
import { auditedDocuments } from "../audit/audited-documents.ts"
import { auditedTrash } from "../audit/audited-trash.ts"
import { daySpending } from "../store/sqlite/day-spending.ts"
import { sessionEnvironment } from "../store/sqlite/session-environment.ts"
import { storedSnippets } from "../store/sqlite/snippets.ts"
import { openStore, type Store } from "../store/sqlite/store.ts"
import { storedTodos } from "../store/sqlite/todos.ts"
import { startTracing } from "../telemetry/start-tracing.ts"
import { orgManagementTools } from "../tools/org_management/index.ts"

/** For `qm init`, which needs it before there is a configuration. */
export { sandboxWorks } from "./builtin.ts"

/** Creates the app: wires store, registry, policy and tools. Nothing else does. */
export async function createQuartermaster(
  config: Config = {},
  options: QuartermasterOptions = {},
): Promise<Quartermaster> {
  refuseBadConfig(config)
  const logger = options.logger ?? silentLogger
  const owner = newOwnerName()
  const dataDir = resolve(config.data?.dir ?? ".quartermaster")
  const known = { home: options.home ?? homeFolder(), env: options.environment ?? process.env }
  requireFolderOfProgram(dataDir, config.data, known)
  const store = await openStore({ dataDir, owner, logger, writes: options.writes ?? "journal" })
  try {
    const app = await assemble(config, options, store, owner, logger)
    const tool = (name: string) => app.registry.get(name)
    await startTracing(config.telemetry, options.telemetry, app.on, {
      masker: masker(store.key, knownSecrets(config, options).values),
      tool,
    })
    await app.plugins.start()
    await app.rules.ready()
    return app
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Creates the app on an open store. */
export async function assemble(
  config: Config,
  options: QuartermasterOptions,
  store: Store,
  owner: string,
  logger: Logger,
): Promise<Quartermaster> {
  const settings = { ...callSettings(config, options.workspace), keepWithheld: options.keepWithheld }
  const { levelOrder, language, workspace } = settings
  const dataDir = dirname(store.journalDir)
  const isShort = options.writes === "direct"
  const now = Date.now
  const emitter = new Emitter(logger)
  const { emit } = emitter

  // The audit log and documents.
  const keys = knownSecrets(config, options)
  const secrets = [...keys.values]
  const masking = masker(store.key, secrets)
  const audit = lazyAudit(store)
  const recording = { recorder: store.recorder, masker: masking, grade: settings.durability }
  const documents = auditedDocuments(store.documents, recording)
  /** A short-lived command waits until other processes have seen its change. */
  const waitForOthers = async () => {
    if (isShort) await waitForOtherProcesses()
  }

  const print = options.print ?? ((text: string) => void process.stderr.write(`${printable(text)}\n`))
  const warn = options.logger === undefined ? print : (text: string) => logger.warn(text)
  const tellUnasked = options.onWaiting ?? ((item: PendingItem) => warn(waitingLine(item, dataDir)))

  // The built-in tools and their guards.
  const contexts: ConversationContexts = new Map()
  const { host, port } = listenAddress(config)
  const { publicUrl } = config.server ?? {}
  const addresses = [httpOrigin(host, port), ...(publicUrl === undefined ? [] : [publicUrl])]
  const entries = pluginEntries(config)
  const builtins = openBuiltins(config, {
    workspace,
    dataDir,
    home: options.home,
    privatePaths: options.privatePaths ?? [],
    readOnlyPaths: [...(options.readOnlyPaths ?? []), ...entries.map(({ path }) => path).filter(isAbsolute)],
    environment: keys.otherVariables(),
    currentEnvironment: keys.otherVariables,
    snippets: options.snippets ?? storedSnippets(store.database),
    todos: storedTodos(store.database),
    session: sessionEnvironment(store.database),
    contexts,
    print,
    longLived: !isShort,
    ownAddresses: () => addresses,
    unsetForWebSearch: options.unset?.webSearch,
    unsetForDatabases: options.unset?.databases,
    hasRole(agentId, roles) {
      const who = org.view(agentId)
      return who !== undefined && hasRole(who, roles)
    },
  })

  // Every tool by name, version and layer.
  const { permissions, enabled } = config.tools ?? {}
  const { registry, groups, experiments } = openRegistry(
    {
      permissions,
      tightening: options.tightening,
      permissionSources: options.permissionSources,
      enabled,
      experiments: config.experiments,
    },
    { documents, audit, logger, levelOrder, language, emit },
  )
  const groupList = { has: (id: string) => groups.hasGroup(id), list: () => groups.listGroups() }

  // People, roles and agents.
  const org = new Directory({
    config: config.org ?? {},
    documents,
    messages: store.messages,
    conversations: {
      get: (id) => store.conversations.get(id),
      readInRun: async (id) => messagesIn(currentRun(chainTurns(await store.conversations.turns(id)))),
    },
    limits: agentLimits(config),
    groups: groupList,
    levelOrder,
    emit,
    async onTerminated(agentIds) {
      await endCallsOf(agentIds, ports)
      await modes.endAgents(agentIds)
      await builtins.processes.endAll((agentId) => agentIds.includes(agentId))
      await agentsEnded(agentIds)
    },
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
  const pipelineTool = runPipelineTool(() => pipelineApp)
  registry.registerMany([...builtins.tools, ...orgManagementTools(org, groupList), ...loopTools, pipelineTool], {
    type: "builtin",
  })

  // Tools of MCP servers and plugins.
  const mcp = await startMcpServers(serverSpecs(config, options.unset?.servers), {
    registry,
    groups,
    documents,
    logger,
    workspace,
    version: options.version ?? "0",
    logins: join(dataDir, "logins"),
    lazy: isShort,
  })
  const plugins = pluginCatalog(entries, {
    registry,
    documents,
    logger,
    language,
    base: workspace,
    watch: options.reloadPlugins,
    known: builtinModules,
    runtime: moduleRuntimes({
      language,
      longLived: !isShort,
      connect: builtins.connect,
      files: builtins.files,
      dataDir,
      mask: (secret) => void secrets.push(secret),
    }),
  })

  const models = openModels({
    settings: modelEntries(config.models),
    default: config.models?.default,
    environment: options.environment ?? process.env,
    own: options.models,
    unset: options.unset?.models,
  })

  // Rules and checks.
  const { guards } = builtins
  const { policy, ...rules } = createPolicy(
    {
      rules: config.rules,
      sources: options.ruleSources,
      readOnlyTrusted: readOnlyTrusted(config),
      decisive: decisiveConfig(config),
    },
    { documents, registry, groups: groupList, org, guards, personSince, modeOf: modes.modeOf, workspace },
  )
  const discovery = new ToolDiscovery(registry, org, levelOrder, policy)

  const links = answerLinks({ documents, isPerson, now })

  // The call lifecycle.
  const permits = new AgentPermits(concurrentToolLimit(config))
  const notify = notifier(config.notify ?? [], logger, {
    async linkFor(person, { callId, kind, revision }) {
      const problem = linkProblem(publicUrl, isPerson(person), (options.environment ?? process.env)["QM_INSIDE"])
      if (problem !== undefined) throw new Error(problem)
      const { secret } = await links.create({ callId, kind, revision, person, isMachineUser: false }, person)
      return new URL(`/answer/${secret}`, publicUrl).href
    },
  })
  const closer = new AbortController()
  setMaxListeners(0, closer.signal)
  const ports: Ports = {
    ...storePorts(store, documents, masking, workspace),
    tools: registry,
    organisation: org,
    policy,
    guards,
    cache: new LruResultCache(),
    permits,
    approvalUI: adapterFromOptions(options.approvals, options.ask),
    rolesOf: (person) => org.findPerson(person)?.roles,
    personSince,
    isTokenValid: (tokenId) => isTokenValid(documents, tokenId, now()),
    async goesOnByItself(sessionId) {
      const found = await store.conversations.get(sessionId)
      return goesOnByItself(found ?? { id: sessionId, settings: {} })
    },
    isAgent: (name) => org.findPerson(name) === undefined && org.findAgent(name) !== undefined,
    emit,
    hasListeners: emitter.hasListeners,
    running: new Map(),
    closing: closer.signal,
    logger,
    settings,
    owner,
    notify: (row) => notify(pendingItem(row)),
    tellUnasked: (row) => tellUnasked(pendingItem(row)),
    now,
  }
  // Only before the first call: by then the host has registered its own tools, so rules about them do not look unused.
  const { idle, ...calls } = callApi(ports, () => {
    if (logger === silentLogger) return
    for (const { source, sentence } of rules.flaws()) logger.warn(`${source}: ${sentence}`)
    for (const sentence of describeOrphanedAgents(org.listAgents())) logger.warn(sentence)
  })
  const { keepMs, ...chainLimits } = chainSettings(config)
  const sweep = async () => {
    await sweepAll(ports, { documents, conversations: store.conversations, keepMs })
    await endOldSessions(documents, now())
    await endOldAnswerLinks(documents, now())
    await modes.endOldModes()
  }
  const sweeper = startSweeper(sweep, ports, options.sweepMs ?? 30_000)
  const watch = watchDocuments(ports, documents, (isStopped) => builtins.processes.endAll(isStopped))
  let closing: Promise<void> | undefined

  const why: Quartermaster["why"] = (request) => explainCall(request, ports, policy)
  const note = (callId: string, agentId: string, text: string) =>
    store.recorder.write({ kind: "note", at: now(), callId, agentId, text }, settings.durability)

  // Models and pipelines that use the tools.
  const approvals = approvalsApi(ports, documents, rules.addApproved)
  const toolsOfAgents = agentTools(registry, discovery, org, settings.askIntent)
  const mailParts = { messages: store.messages, conversations: store.conversations, org, emit, now }
  const runOptionParts = {
    org,
    mcpTools: toolsOfAgents.mcpTools,
    dialectNames: (dialect: string) => registry.dialectNames(dialect),
    limits: { maxRounds: chainLimits.maxRounds, maxCalls: chainLimits.maxCalls },
  }
  const { chainsIdle, openChain, reopen, ...chains } = openChains({
    app: { ...calls, ...toolsOfAgents, storeText: storeText(ports) },
    models,
    conversations: store.conversations,
    owner,
    isAlive: ports.isAlive,
    isActive: (agentId) => org.view(agentId) !== undefined,
    claimedHere: new Map(),
    roleOf: (agentId) => org.view(agentId)?.role,
    closing: closer.signal,
    contexts,
    settings: chainLimits,
    daySpending: daySpending(store.database),
    ancestorsOf: (agentId) => (org.view(agentId)?.ancestors ?? []).map(({ agent }) => agent.id),
    emit,
    mailOf: (conversationId, agentId) => mailOf(mailParts, conversationId, agentId),
    societyOptions: (conversation) => societyOptions(runOptionParts, conversation),
    note,
  })
  const pipelineApp: PipelineApp = { ...calls, ...toolsOfAgents, why }
  const { pipelinesIdle, pipeline } = openPipelines({
    app: pipelineApp,
    closing: closer.signal,
    resumableMs: Math.min(chainLimits.resumableMs, keyWindowMs),
    emit,
    note,
  })

  const { society, organisationChanged, agentsEnded } = openSociety({
    ...mailParts,
    owner,
    isAlive: ports.isAlive,
    app: { on: (type, listener) => emitter.on(type, listener), approvals },
    models,
    openChain,
    reopen,
    closing: closer.signal,
    logger,
  })
  documents.onChange(organisationChanged)

  return {
    ...calls,
    ...toolsOfAgents,
    ...chains,
    pipeline,
    society,
    on: (type, listener) => emitter.on(type, listener),
    audit,
    registry,
    groups,
    listGroups: groupList.list,
    org,
    discovery,
    mcp,
    plugins,
    models,
    experiments,
    approvals,
    rules: rules.rulesApi(ports, audit),
    why,
    freeze: freezes.freeze,
    thaw: freezes.thaw,
    frozen: freezes.frozen,
    setMode: modes.setMode,
    modes: modes.modes,
    modeOf(agentId, sessionId) {
      const who = org.view(agentId)
      return who === undefined ? "ask" : modes.modeOf(who, sessionId)
    },
    endSession: modes.endSession,
    tokens: agentTokens({
      documents,
      isKnown: (agentId) => org.view(agentId) !== undefined,
      isPerson,
      onRevoked: (agentId) => endCallsOf([agentId], ports),
      waitForOthers,
      now,
    }),
    signIn: signIn({
      documents,
      isPerson,
      personOfToken: (token) => org.personOfToken(token),
      isTokenOf: (id, tokenHash) => org.isTokenOf(id, tokenHash),
      now,
    }),
    answerLinks: links,
    pins: answerPins({ documents, personSince, now }),
    changes: () => store.changes(),
    executor: (agentId) => new ToolExecutor(calls, registry, agentId ?? config.agent ?? "operator"),
    artifact: artifactsApi(ports),
    storeText: storeText(ports),
    sealKey: (purpose) => sealKey(store.key, purpose),
    addOwnAddress: (address) => void addresses.push(address),
    trash: auditedTrash(builtins.trash, recording),
    sandbox: () => builtins.processes.layer(false),
    health: healthOf(store.database, store.recorder, now),
    backup: async (folder) => (await import("../store/sqlite/backup.ts")).backup(store, folder),
    async sweep() {
      if (hasCallsLeft(store, now() - keyWindowMs)) await sweep()
    },
    settle: () => store.recorder.settle(),
    close: () => (closing ??= closeAll()),
  }

  /** Cancels running calls, leaves waiting calls in the approval queue, records the endings, then closes the store. */
  async function closeAll(): Promise<void> {
    clearInterval(sweeper)
    clearInterval(watch)
    closer.abort()
    permits.cancelWaiting()
    // Before their processes and servers end: a command that is killed by this must not count as finished.
    for (const { cancel } of ports.running.values()) cancel()
    await Promise.all([mcp.close(), builtins.close()])
    await idle()
    await chainsIdle()
    await pipelinesIdle()
    await plugins.close()
    await notify.idle()
    await store.close()
  }
}

/** Why no answer link is sent along with a notification. */
function linkProblem(publicUrl: string | undefined, isPerson: boolean, inside: string | undefined): string | undefined {
  if (publicUrl === undefined) return "server.publicUrl is missing. State the address that people open."
  if (!isPerson) return "There is no such person. 'qm people list' shows all people."
  // A program that an agent started must not see it.
  return inside ? "The call was made inside a tool (QM_INSIDE is set)." : undefined
}

/** The keys of models and the addresses of databases, which no record shows, and the environment without them, which tools get. */
function knownSecrets({ models, databases }: Config, { environment = process.env }: QuartermasterOptions) {
  const variables = keyVariables(modelEntries(models))
  const ofDatabases = databaseSecrets(databases)
  const keys = variables.map((name) => environment[name]?.trim() ?? "").filter((key) => key.length >= 8)
  const isOther = ([name, value = ""]: [string, string | undefined]) =>
    !variables.includes(name) && !ofDatabases.some((secret) => value.includes(secret))
  return {
    values: [...keys, ...ofDatabases],
    otherVariables: () => Object.fromEntries(Object.entries(environment).filter(isOther)),
  }
}

/** The parts of the configuration that affect decisions; the audit log contains their hash. */
function decisiveConfig(config: Config) {
  const { org, agents, rules, approvals, experiments } = config
  const databases = Object.entries(config.databases ?? {}).map(([name, { url: _secret, ...entry }]) => ({
    name,
    ...entry,
  }))
  const { askIntent: _decidesNothing, ...tools } = config.tools ?? {}
  const trusted = readOnlyTrusted(config)
  return {
    tools,
    org,
    agents,
    rules,
    approvals,
    experiments,
    ...(trusted.length === 0 ? {} : { trusted }),
    ...(databases.length === 0 ? {} : { databases }),
  }
}
