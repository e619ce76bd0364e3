import { createHmac } from "node:crypto"
import { setMaxListeners } from "node:events"
import { realpathSync } from "node:fs"
import { homedir } from "node:os"
import { dirname, isAbsolute, join, resolve as resolvePath } from "node:path"
import { askingWith } from "./approval/asking.ts"
import { notifier } from "./approval/notify.ts"
import { printable } from "./approval/printable.ts"
import { builtin } from "./builtin.ts"
import { LastResults } from "./call/cache.ts"
import { deskItem } from "./call/desk.ts"
import { deskDoor } from "./call/desk-door.ts"
import { ToolDiscovery } from "./call/discovery.ts"
import { doors } from "./call/doors.ts"
import { ToolExecutor } from "./call/executor.ts"
import { endCallsOf, sweepAll, startSweeper, watchDocuments, watchMs } from "./call/housekeeping.ts"
import { lookAt } from "./call/looked.ts"
import { AgentPermits } from "./call/permits.ts"
import { keyWindowMs } from "./call/states.ts"
import { simulate } from "./call/simulate.ts"
import { why } from "./call/why.ts"
import { checkConfig } from "./config/check.ts"
import { serverFlaws, serverSpecs } from "./config/mcp-servers.ts"
import { moduleEntries, pluginEntries } from "./config/plugins.ts"
import { defaults, type Config } from "./config/schema.ts"
import { Emitter } from "./emitter.ts"
import { mcpServers } from "./mcp/client/servers.ts"
import type { App } from "./model/app.ts"
import type { ApprovalUIAdapter, Ask } from "./model/approval.ts"
import type { AliasSpec } from "./model/dialect.ts"
import { silentLogger, type Logger } from "./model/logger.ts"
import { lostAgents } from "./model/lost-agents.ts"
import type { AgentView } from "./model/organisation.ts"
import type { Documents, Ports } from "./model/ports.ts"
import type { ToolPermission } from "./model/permission.ts"
import type { Grant, Rule } from "./model/rule.ts"
import type { SnippetStorage } from "./model/snippets.ts"
import type { AgentToken } from "./model/token-book.ts"
import type { RegisteredTool } from "./model/tool.ts"
import { agentTokens } from "./org/agent-tokens.ts"
import { Directory } from "./org/directory.ts"
import { freezer } from "./org/freezer.ts"
import { PolicyBook } from "./policy/book.ts"
import { ruleDoor } from "./policy/rule-door.ts"
import { policyVersion } from "./policy/version.ts"
import { classicDialect } from "./registry/dialects/classic.ts"
import { claudeDialect } from "./registry/dialects/claude.ts"
import { experiments } from "./registry/experiments.ts"
import { mcpDefinitions, toLLMTools, type LLMFormat, type LLMTools } from "./registry/formats.ts"
import { ToolGroupManager } from "./registry/groups.ts"
import { plugins, type RunningPlugins } from "./registry/plugins/book.ts"
import { ToolRegistry } from "./registry/registry.ts"
import { fileDigests } from "./store/file-digests.ts"
import { fileVersions } from "./store/file-versions.ts"
import { healthOf } from "./store/health.ts"
import { lazyAudit, lazyCalls } from "./store/lazy.ts"
import { masker } from "./store/mask.ts"
import { ownerName } from "./store/owner.ts"
import { recordedDocuments } from "./store/recorded-documents.ts"
import { sessionEnvironment } from "./store/session-environment.ts"
import { storedSnippets } from "./store/snippets.ts"
import { storedTodos } from "./store/todos.ts"
import { openStore, type Store } from "./store/store.ts"
import type { Telemetry } from "./telemetry/spans.ts"
import { artifactTools } from "./tools/artifact/index.ts"
import { consoleTools } from "./tools/console/index.ts"
import { dataTools } from "./tools/data/index.ts"
import { interactionTools } from "./tools/interaction/index.ts"
import { orgManagementTools } from "./tools/org_management/index.ts"
import { todoTools } from "./tools/todo/index.ts"
import { systemTools } from "./tools/system/index.ts"

export interface QuartermasterOptions {
  logger?: Logger
  /** How a person is asked. Without it, calls that need a person wait for an answer from elsewhere. */
  approvals?: ApprovalUIAdapter
  /** How ask_user reaches a person. */
  ask?: Ask
  /** Where console_print prints. */
  print?: (text: string) => void
  /** What get_env may read. */
  environment?: Readonly<Record<string, string | undefined>>
  /** *direct* writes each record into the table itself; for processes that make one call and end. */
  writes?: "journal" | "direct"
  /** Permissions from a file nobody has trusted yet: they count only where they tighten. */
  tightening?: Readonly<Record<string, ToolPermission>>
  /** Where each rule of the configuration is written. */
  ruleSources?: readonly string[]
  /** How often what nobody came back for is ended; 0 switches it off. */
  sweepMs?: number
  /** The folder this process works in; the current one when left out. */
  workspace?: string
  /** Where snippets are kept; in the store when left out. */
  snippets?: SnippetStorage
  /** The home folder, for what is sealed in it. */
  home?: string
  /** Files of ours that no tool reads or writes, and those that no tool writes. */
  sealed?: readonly string[]
  sealedForWriting?: readonly string[]
  /** What other people's servers are told our version is. */
  version?: string
  /** Loads plugins again when their files change. */
  reloadPlugins?: boolean
  /** Where finished calls are told as OpenTelemetry spans. */
  telemetry?: Telemetry
}

/** The running system. */
export interface Quartermaster extends App {
  readonly registry: ToolRegistry
  readonly groups: ToolGroupManager
  readonly org: Directory
  /** The definitions a model is given for this agent (S0). */
  getToolDefinitionsForAgent(agentId: string): LLMTools["openai"]
  /** The walk bound to one agent; without a name, to the configured one. */
  executor(agentId?: string): ToolExecutor
  /** What a provider is sent for this agent: just the tools it may know of. */
  toolsFor<Format extends LLMFormat = "openai">(agentId: string, options?: { format?: Format }): LLMTools[Format]
  readonly discovery: ToolDiscovery
  readonly plugins: RunningPlugins
  /** Resolves when everything kept so far can be queried. */
  settle(): Promise<void>
}

/** Puts the house together: the only place where its parts meet. */
export async function createQuartermaster(
  config: Config = {},
  options: QuartermasterOptions = {},
): Promise<Quartermaster> {
  refuseBadConfig(config)
  const logger = options.logger ?? silentLogger
  const owner = ownerName()
  const dataDir = resolvePath(config.data?.dir ?? ".quartermaster")
  const store = await openStore({ dataDir, owner, logger, writes: options.writes ?? "journal" })
  try {
    const system = assemble(config, options, store, owner, logger)
    await trace(config, options, system, store)
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
  const emitter = new Emitter(logger)
  const { emit } = emitter
  const masking = masker(store.key)
  const grade = config.data?.durability ?? "crash"
  const documents = recordedDocuments(store.documents, { recorder: store.recorder, masker: masking, grade })
  const levelOrder = config.org?.levelOrder ?? "asc"
  const workspace = realPath(options.workspace ?? config.workspace ?? config.tools?.workspaceDir ?? process.cwd())
  const { host = defaults.server.host, port = defaults.server.port } = config.server ?? {}
  const addresses = [`http://${host.includes(":") ? `[${host}]` : host}:${port}`]
  const world = builtin(config, {
    workspace,
    dataDir: dirname(store.journalDir),
    home: options.home ?? homeFolder(),
    sealed: options.sealed ?? [],
    sealedForWriting: [...(options.sealedForWriting ?? []), ...pluginFiles(config)],
    environment: options.environment ?? process.env,
    snippets: options.snippets ?? storedSnippets(store.database),
    stays: options.writes !== "direct",
    own: () => addresses,
  })
  const { guards } = world
  const others = [...claudeDialect(), ...classicDialect()]
  const groups = new ToolGroupManager({
    logger,
    onChange: (group, change) => emit({ type: "GROUP_CHANGED", at: Date.now(), group, change }),
  })
  const trials = experiments(config.experiments ?? {}, {
    documents,
    versionsOf: (name) => [...new Set(registry.list().flatMap((tool) => (tool.name === name ? [tool.version] : [])))],
    canonical: (name) => registry.nameOf(name),
    toolNames: () => registry.names(),
    audit: { export: (filter) => audit.export(filter) },
    now: Date.now,
  })
  const registry: ToolRegistry = new ToolRegistry({
    groups,
    experimentArm: trials.armOf,
    logger,
    levelOrder,
    permissions: byOwnNames(config.tools?.permissions ?? {}, others),
    ...(options.tightening === undefined ? {} : { tightening: byOwnNames(options.tightening, others) }),
    enabled: config.tools?.enabled?.map((name) => ownName(name, others)),
    onChange: (tool, change) => emit({ type: "TOOL_LIST_CHANGED", at: Date.now(), tool: tool.id, change }),
  })
  const org = new Directory({
    config: config.org ?? {},
    documents,
    messages: store.messages,
    groups: { has: (id) => groups.hasGroup(id), list: () => groups.listGroups() },
    levelOrder,
    emit,
    async onTerminated(agentIds) {
      await endCallsOf(agentIds, ports)
      await Promise.all(agentIds.map((agentId) => world.processes.endAll(agentId)))
    },
  })
  registry.registerMany(
    [...builtinTools(options, store), ...world.tools, ...orgManagementTools(org, { list: () => groups.listGroups() })],
    { type: "builtin" },
  )
  registry.registerAliases(others)
  const stops = freezer(documents, { isKnown: (agentId) => org.findAgent(agentId) !== undefined, emit })
  const named = {
    canonical: (name: string) => registry.nameOf(name),
    inGroups: (tool: RegisteredTool, ids: readonly string[] | null) => registry.inGroups(tool, ids),
    resolve: (name: string, who: AgentView | undefined) => registry.resolve(name, who),
  }
  const rules = ruleDoor(
    documents,
    { rules: config.rules ?? [], sources: options.ruleSources },
    {
      ...named,
      tools: () => registry.list(),
      groups: () => groups.listGroups().map(({ id }) => id),
      roles: () => org.listRoles(),
      departments: () => org.listDepartments().map(({ id }) => id),
      agents: () => org.listAgents().map(({ id }) => id),
      view: (agentId) => org.view(agentId),
      touches: (tool, input) => lookAt(tool, input, guards, {}).touches,
      workspace,
    },
  )
  const { tools, agents, approvals } = config
  const version = policyVersion(
    { tools, org: config.org, agents, rules: config.rules, approvals, experiments: config.experiments },
    documents,
    registry,
  )
  const policyWith = (list: () => readonly Rule[]) =>
    new PolicyBook({
      rules: list,
      grants: () => liveGrants(documents),
      modeOf: (sessionId) => stops.modeOf(sessionId),
      version: () => documents.version,
      tools: named,
      toolsVersion: () => registry.version,
      policyVersion: version,
    })
  const policy = policyWith(() => rules.list())
  const discovery = new ToolDiscovery(registry, org, levelOrder, policy)
  const mcp = mcpServers(serverSpecs(config), {
    registry,
    groups,
    documents,
    logger,
    workspace,
    version: options.version ?? "0",
    logins: join(dirname(store.journalDir), "logins"),
    lazy: options.writes === "direct",
  })
  const brought = plugins([...pluginEntries(config), ...moduleEntries(config)], {
    registry,
    documents,
    logger,
    base: workspace,
    watch: options.reloadPlugins,
  })
  const permits = new AgentPermits(mostAtOnce(config))
  const notify = notifier(config.notify ?? [], logger)
  const closer = new AbortController()
  setMaxListeners(0, closer.signal)
  let closing: Promise<void> | undefined
  const ports: Ports = {
    tools: registry,
    organisation: org,
    policy,
    guards,
    cache: new LastResults(),
    limits: store.limits,
    permits,
    recorder: store.recorder,
    calls: lazyCalls(store),
    artifacts: store.artifacts,
    masker: masking,
    approvals: askingWith(options.approvals, options.ask),
    grants: {
      keep: async (grant) => void (await documents.put({ kind: "grant", id: grant.id, body: grant }, grant.by)),
    },
    rolesOf: (person) => org.findPerson(person)?.roles,
    tokenCounts: (tokenId) => tokenCounts(documents, tokenId),
    isAgent: (name) => org.findPerson(name) === undefined && org.findAgent(name) !== undefined,
    emit,
    hears: emitter.hears,
    running: new Map(),
    closing: closer.signal,
    logger,
    settings: {
      durability: grade,
      timeoutMs: config.tools?.timeout ?? defaults.tools.timeout,
      approvalDeadlineMs: (config.approvals?.deadline ?? defaults.approvals.deadline) * 60_000,
      unattended: config.approvals?.unattended ?? "wait",
      levelOrder,
      workspace,
    },
    owner,
    alive: (other) => store.leases.alive(other),
    refresh: () => documents.refresh(),
    digests: (touches) => fileDigests(touches, workspace),
    fileVersions: (touches) => fileVersions(touches, workspace),
    notify: (row) => notify(deskItem(row)),
    now: Date.now,
  }
  // Only before the first call: the host's own tools are registered by then, so that no rule about them looks dead.
  const app = doors(ports, () => {
    if (logger === silentLogger) return
    for (const { source, sentence } of rules.flaws()) logger.warn(`${source}: ${sentence}`)
    for (const sentence of lostAgents(org.listAgents())) logger.warn(sentence)
  })
  const shownTo = (agentId: string) => {
    const who = org.view(agentId)
    return discovery.discoverToolsForAgent(agentId).map((tool) => registry.shownTo(who, tool))
  }
  const audit = lazyAudit(store)
  const on: App["on"] = (type, listener) => emitter.on(type, listener)
  const sweeper = startSweeper(ports, documents, options.sweepMs ?? 30_000)
  const watch = watchDocuments(ports, documents)
  const { idle: _idle, ...open } = app
  return {
    ...open,
    on,
    audit,
    registry,
    groups,
    org,
    discovery,
    desk: deskDoor(ports, documents),
    rules: {
      list: rules.list,
      flaws: rules.flaws,
      add: rules.add,
      remove: rules.remove,
      version: () => policy.version,
      simulate: (given, filter) => {
        const proposed = rules.read(given, "proposed")
        const stored = rules.list().filter(({ source }) => source.startsWith("rule "))
        const besides = (list: readonly Rule[]) => policyWith(() => [...list, ...stored])
        return simulate(proposed, filter, { ports, policyWith: besides, audit })
      },
    },
    why: (request) => why(request, ports, policy),
    freeze: (given) => stops.freeze(given).then(() => everywhere(options)),
    thaw: stops.thaw,
    frozen: stops.frozen,
    setMode: (given) => stops.setMode(given).then(() => everywhere(options)),
    mcp,
    plugins: brought,
    experiments: trials,
    tokens: agentTokens({
      documents,
      isKnown: (agentId) => org.view(agentId) !== undefined,
      isPerson: (id) => org.findPerson(id)?.status === "active",
      onRevoked: (agentId) => endCallsOf([agentId], ports),
      everywhere: () => everywhere(options),
      now: ports.now,
    }),
    mcpTools: (agentId) => mcpDefinitions(shownTo(agentId), registry.naming()),
    mayKnow: (agentId, tool) => discovery.mayKnow(agentId, tool),
    wireName: (tool) => registry.wireNames().toWire(tool),
    listVersion: () => discovery.version,
    async artifact(agentId, ref) {
      const who = org.view(agentId)
      const found = who === undefined || who.frozen !== undefined ? undefined : await store.artifacts.get(ref)
      if (found?.agentId !== agentId) return undefined
      const about = { callId: found.callId ?? found.id, at: Date.now(), agentId, tool: "artifact" }
      await store.recorder.keep({ kind: "note", ...about, text: `Read artifact ${found.id}.` }, grade)
      return found
    },
    sealKey: (purpose) => createHmac("sha256", store.key.text).update(`seal:${purpose}`).digest(),
    listensAt: (address) => void addresses.push(address),
    trash: world.trash,
    sandbox: () => world.processes.layer(false),
    health: healthOf(store.database, store.recorder, ports.now),
    backup: async (folder) => (await import("./store/backup.ts")).backup(store, folder),
    listGroups: () => groups.listGroups(),
    visibleTools: (agentId) => discovery.discoverToolsForAgent(agentId),
    shownTools: shownTo,
    inputOf(agentId, name) {
      const who = org.view(agentId)
      const tool = registry.resolve(name, who)
      if (tool === undefined || !discovery.mayKnow(agentId, name)) return undefined
      return (registry.alias(name, who) ?? tool).input.json
    },
    getToolDefinitionsForAgent: (agentId) => toLLMTools(shownTo(agentId), "openai", registry.naming()),
    executor: (agentId) => new ToolExecutor(app, registry, agentId ?? config.agent ?? "operator"),
    toolsFor: (agentId, { format } = {}) =>
      toLLMTools(shownTo(agentId), format ?? "openai", registry.naming()) as never,
    sweep: () => sweepOnce(ports, documents, store),
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
    await app.idle()
    await brought.close()
    await notify.idle()
    await store.close()
  }
}

/** Tells calls as spans, where that is wished for: to the tracer that was given, else to the SDK this process has loaded. */
async function trace(
  config: Config,
  options: QuartermasterOptions,
  system: Quartermaster,
  store: Store,
): Promise<void> {
  if (options.telemetry === undefined && config.telemetry?.enabled !== true) return
  const { globalTracer, traceCalls } = await import("./telemetry/spans.ts")
  const { tracer, content }: Partial<Telemetry> = { ...config.telemetry, ...options.telemetry }
  const tool = (name: string) => system.registry.get(name)
  traceCalls(system.on, tracer ?? (await globalTracer()), { content, masker: masker(store.key), tool })
}

/** Most commands find nothing that was ever left, and then the calls need not be opened. */
async function sweepOnce(ports: Ports, documents: Documents, store: Store): Promise<void> {
  const due = "select 1 from calls where state <> 'ended' or updated_at < ? limit 1"
  if (store.database.prepare(due).get(Date.now() - keyWindowMs) !== undefined) await sweepAll(ports, documents)
}

/** A command that ends at once waits until every other process has seen what it did. */
async function everywhere({ writes }: QuartermasterOptions): Promise<void> {
  if (writes === "direct") await new Promise((resolve) => setTimeout(resolve, 2.5 * watchMs))
}

function liveGrants(documents: Documents): Grant[] {
  return [...documents.all("grant")].filter(({ live }) => live).map(({ body }) => body as Grant)
}

/** Whether nobody has revoked a token and it has not expired. */
function tokenCounts(documents: Documents, tokenId: string): boolean {
  const found = documents.get("token", tokenId)
  const { expiresAt = null } = (found?.body ?? {}) as Partial<AgentToken>
  return found?.live === true && (expiresAt === null || expiresAt > Date.now())
}

/** What the configuration says about a tool by another of its names, it says about the tool. */
function byOwnNames<T>(table: Readonly<Record<string, T>>, others: readonly AliasSpec[]): Record<string, T> {
  return Object.fromEntries(Object.entries(table).map(([name, said]) => [ownName(name, others), said]))
}

function ownName(name: string, others: readonly AliasSpec[]): string {
  return others.find((alias) => alias.name === name)?.tool ?? name
}

function pluginFiles(config: Config): string[] {
  return [...pluginEntries(config), ...moduleEntries(config)].map(({ path }) => path).filter(isAbsolute)
}

function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolvePath(folder)
  }
}

function builtinTools({ print, environment }: QuartermasterOptions, store: Store) {
  return [
    ...dataTools(),
    ...systemTools(sessionEnvironment(store.database), environment ?? process.env),
    ...consoleTools(print ?? ((text) => void process.stderr.write(`${printable(text)}\n`))),
    ...interactionTools(),
    ...artifactTools(),
    ...todoTools(storedTodos(store.database)),
  ]
}

function refuseBadConfig(config: Config): void {
  const checked = checkConfig(config)
  const flaws = checked.flaws.length > 0 ? checked.flaws : serverFlaws(checked.config)
  if (flaws.length > 0) {
    throw new TypeError(`The configuration cannot be used: ${flaws.map((flaw) => flaw.sentence).join(" ")}`)
  }
}

function mostAtOnce(config: Config): number {
  return Math.min(
    config.tools?.maxConcurrent ?? defaults.tools.maxConcurrent,
    config.agents?.maxConcurrentTools ?? defaults.agents.maxConcurrentTools,
  )
}
