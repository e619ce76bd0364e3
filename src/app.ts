import { setMaxListeners } from "node:events"
import { dirname, isAbsolute, join, resolve } from "node:path"
import { askingWith } from "./approval/asking.ts"
import { notifier } from "./approval/notify.ts"
import { printable } from "./approval/printable.ts"
import { builtin } from "./builtin.ts"
import { artifactDoor } from "./call/artifact-door.ts"
import { LastResults } from "./call/cache.ts"
import { deskItem } from "./call/desk.ts"
import { deskDoor } from "./call/desk-door.ts"
import { ToolDiscovery } from "./call/discovery.ts"
import { doors } from "./call/doors.ts"
import { ToolExecutor } from "./call/executor.ts"
import { endCallsOf, seenEverywhere, startSweeper, sweepAll, watchDocuments } from "./call/housekeeping.ts"
import { AgentPermits } from "./call/permits.ts"
import { standingPolicy } from "./call/standing-policy.ts"
import { keyWindowMs } from "./call/states.ts"
import { why } from "./call/why.ts"
import { refuseBadConfig } from "./config/check.ts"
import { listening } from "./config/listening.ts"
import { serverSpecs } from "./config/mcp-servers.ts"
import { pluginEntries } from "./config/plugins.ts"
import type { Config } from "./config/schema.ts"
import { mostAtOnce, walkSettings } from "./config/walk-settings.ts"
import { Emitter } from "./emitter.ts"
import { mcpServers } from "./mcp/client/servers.ts"
import { httpAddress } from "./model/address.ts"
import { silentLogger, type Logger } from "./model/logger.ts"
import { lostAgents } from "./model/lost-agents.ts"
import type { Ports } from "./model/ports.ts"
import { agentTokens, tokenCounts } from "./org/agent-tokens.ts"
import { Directory } from "./org/directory.ts"
import { freezer } from "./org/freezer.ts"
import type { Quartermaster, QuartermasterOptions } from "./quartermaster.ts"
import { openRegistry } from "./registry/open.ts"
import { plugins } from "./registry/plugins/book.ts"
import { shown } from "./registry/shown.ts"
import { healthOf } from "./store/health.ts"
import { sealKey } from "./store/key.ts"
import { hasCallsLeft, lazyAudit } from "./store/lazy.ts"
import { masker } from "./store/mask.ts"
import { ownerName } from "./store/owner.ts"
import { storePorts } from "./store/ports.ts"
import { recordedDocuments } from "./store/recorded-documents.ts"
import { recordedTrash } from "./store/recorded-trash.ts"
import { sessionEnvironment } from "./store/session-environment.ts"
import { storedSnippets } from "./store/snippets.ts"
import { openStore, type Store } from "./store/store.ts"
import { storedTodos } from "./store/todos.ts"
import { trace } from "./telemetry/trace.ts"
import { orgManagementTools } from "./tools/org_management/index.ts"

/** Puts the house together: the only place where its parts meet. */
export async function createQuartermaster(
  config: Config = {},
  options: QuartermasterOptions = {},
): Promise<Quartermaster> {
  refuseBadConfig(config)
  const logger = options.logger ?? silentLogger
  const owner = ownerName()
  const dataDir = resolve(config.data?.dir ?? ".quartermaster")
  const store = await openStore({ dataDir, owner, logger, writes: options.writes ?? "journal" })
  try {
    const system = assemble(config, options, store, owner, logger)
    const tool = (name: string) => system.registry.get(name)
    await trace(config.telemetry, options.telemetry, system.on, { masker: masker(store.key), tool })
    await system.plugins.start()
    return system
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The house over a store that is already open. */
export function assemble(
  config: Config,
  options: QuartermasterOptions,
  store: Store,
  owner: string,
  logger: Logger,
): Quartermaster {
  const settings = walkSettings(config, options.workspace)
  const { levelOrder, workspace } = settings
  const dataDir = dirname(store.journalDir)
  const isShort = options.writes === "direct"
  const now = Date.now
  const emitter = new Emitter(logger)
  const { emit } = emitter

  // What is kept.
  const masking = masker(store.key)
  const audit = lazyAudit(store)
  const recording = { recorder: store.recorder, masker: masking, grade: settings.durability }
  const documents = recordedDocuments(store.documents, recording)
  /** A command that ends at once waits until every other process has seen what it did. */
  const everywhere = async () => {
    if (isShort) await seenEverywhere()
  }

  // The tools of the house, and the guards before them.
  const { host, port } = listening(config)
  const addresses = [httpAddress(host, port)]
  const entries = pluginEntries(config)
  const world = builtin(config, {
    workspace,
    dataDir,
    home: options.home,
    sealed: options.sealed ?? [],
    sealedForWriting: [...(options.sealedForWriting ?? []), ...entries.map(({ path }) => path).filter(isAbsolute)],
    environment: options.environment ?? process.env,
    snippets: options.snippets ?? storedSnippets(store.database),
    todos: storedTodos(store.database),
    session: sessionEnvironment(store.database),
    print: options.print ?? ((text) => void process.stderr.write(`${printable(text)}\n`)),
    stays: !isShort,
    own: () => addresses,
  })

  // Every tool by name, version and layer.
  const { permissions, enabled } = config.tools ?? {}
  const { registry, groups, trials } = openRegistry(
    { permissions, tightening: options.tightening, enabled, experiments: config.experiments },
    { documents, audit, logger, levelOrder, emit },
  )
  const groupList = { has: (id: string) => groups.hasGroup(id), list: () => groups.listGroups() }

  // Who there is.
  const org = new Directory({
    config: config.org ?? {},
    documents,
    messages: store.messages,
    groups: groupList,
    levelOrder,
    emit,
    async onTerminated(agentIds) {
      await endCallsOf(agentIds, ports)
      await world.processes.endAll((agentId) => agentIds.includes(agentId))
    },
  })
  const stops = freezer(documents, { isKnown: (agentId) => org.findAgent(agentId) !== undefined, emit, everywhere })
  registry.registerMany([...world.tools, ...orgManagementTools(org, groupList)], { type: "builtin" })

  // Tools of others.
  const mcp = mcpServers(serverSpecs(config), {
    registry,
    groups,
    documents,
    logger,
    workspace,
    version: options.version ?? "0",
    logins: join(dataDir, "logins"),
    lazy: isShort,
  })
  const brought = plugins(entries, { registry, documents, logger, base: workspace, watch: options.reloadPlugins })

  // What decides.
  const { guards } = world
  const { policy, ...rules } = standingPolicy(
    { rules: config.rules, sources: options.ruleSources, decisive: decisive(config) },
    { documents, registry, groups: groupList, org, guards, modeOf: stops.modeOf, workspace },
  )
  const discovery = new ToolDiscovery(registry, org, levelOrder, policy)

  // The walk, and the doors to it.
  const permits = new AgentPermits(mostAtOnce(config))
  const notify = notifier(config.notify ?? [], logger)
  const closer = new AbortController()
  setMaxListeners(0, closer.signal)
  const ports: Ports = {
    ...storePorts(store, documents, masking, workspace),
    tools: registry,
    organisation: org,
    policy,
    guards,
    cache: new LastResults(),
    permits,
    approvals: askingWith(options.approvals, options.ask),
    rolesOf: (person) => org.findPerson(person)?.roles,
    tokenCounts: (tokenId) => tokenCounts(documents, tokenId, now()),
    isAgent: (name) => org.findPerson(name) === undefined && org.findAgent(name) !== undefined,
    emit,
    hears: emitter.hears,
    running: new Map(),
    closing: closer.signal,
    logger,
    settings,
    owner,
    notify: (row) => notify(deskItem(row)),
    now,
  }
  // Only before the first call: the host's own tools are registered by then, so that no rule about them looks dead.
  const { idle, ...walk } = doors(ports, () => {
    if (logger === silentLogger) return
    for (const { source, sentence } of rules.flaws()) logger.warn(`${source}: ${sentence}`)
    for (const sentence of lostAgents(org.listAgents())) logger.warn(sentence)
  })
  const sweeper = startSweeper(ports, documents, options.sweepMs ?? 30_000)
  const watch = watchDocuments(ports, documents, (isStopped) => world.processes.endAll(isStopped))
  let closing: Promise<void> | undefined

  return {
    ...walk,
    ...shown(registry, discovery, (agentId) => org.view(agentId)),
    on: (type, listener) => emitter.on(type, listener),
    audit,
    registry,
    groups,
    listGroups: groupList.list,
    org,
    discovery,
    mcp,
    plugins: brought,
    experiments: trials,
    desk: deskDoor(ports, documents),
    rules: rules.door(ports, audit),
    why: (request) => why(request, ports, policy),
    freeze: stops.freeze,
    thaw: stops.thaw,
    frozen: stops.frozen,
    setMode: stops.setMode,
    tokens: agentTokens({
      documents,
      isKnown: (agentId) => org.view(agentId) !== undefined,
      isPerson: (id) => org.findPerson(id)?.status === "active",
      onRevoked: (agentId) => endCallsOf([agentId], ports),
      everywhere,
      now,
    }),
    executor: (agentId) => new ToolExecutor(walk, registry, agentId ?? config.agent ?? "operator"),
    artifact: artifactDoor(ports),
    sealKey: (purpose) => sealKey(store.key, purpose),
    listensAt: (address) => void addresses.push(address),
    trash: recordedTrash(world.trash, recording),
    sandbox: () => world.processes.layer(false),
    health: healthOf(store.database, store.recorder, now),
    backup: async (folder) => (await import("./store/backup.ts")).backup(store, folder),
    async sweep() {
      if (hasCallsLeft(store, now() - keyWindowMs)) await sweepAll(ports, documents)
    },
    settle: () => store.recorder.settle(),
    close: () => (closing ??= shut()),
  }

  /** Cancels what runs, leaves at the desk what waits for a person, writes down the endings, then closes the store. */
  async function shut(): Promise<void> {
    clearInterval(sweeper)
    clearInterval(watch)
    closer.abort()
    await Promise.all([mcp.close(), world.close()])
    permits.cancelWaiting()
    for (const { cancel } of ports.running.values()) cancel()
    await idle()
    await brought.close()
    await notify.idle()
    await store.close()
  }
}

/** All of the configuration that decides; the record names its hash. */
function decisive({ tools, org, agents, rules, approvals, experiments }: Config) {
  return { tools, org, agents, rules, approvals, experiments }
}
