import { setMaxListeners } from "node:events"
import { realpathSync } from "node:fs"
import { resolve as resolvePath } from "node:path"
import { notifier } from "./approval/notify.ts"
import { printable } from "./approval/printable.ts"
import { touchesOf } from "./call/allowed.ts"
import { callTool } from "./call/call.ts"
import { deskItem } from "./call/desk.ts"
import { deskDoor } from "./call/desk-door.ts"
import { ToolDiscovery } from "./call/discovery.ts"
import { ToolExecutor } from "./call/executor.ts"
import { AgentPermits } from "./call/permits.ts"
import { simulate } from "./call/simulate.ts"
import { why } from "./call/why.ts"
import { checkConfig } from "./config/check.ts"
import { defaults, type Config } from "./config/schema.ts"
import { Emitter } from "./emitter.ts"
import type { App } from "./model/app.ts"
import type { ApprovalUIAdapter, Ask } from "./model/approval.ts"
import type { CallRequest } from "./model/call.ts"
import { Ending } from "./model/ending.ts"
import { errorOf } from "./model/errors.ts"
import { silentLogger, type Logger } from "./model/logger.ts"
import type { Documents, Ports } from "./model/ports.ts"
import { canonicalJson, sha256 } from "./model/plain.ts"
import type { ToolPermission } from "./model/permission.ts"
import type { Grant, Rule } from "./model/rule.ts"
import type { RegisteredTool } from "./model/tool.ts"
import { isTicket, type Ticket, type ToolResult } from "./model/result.ts"
import { Directory } from "./org/directory.ts"
import { everyone, freezer } from "./org/freezer.ts"
import { PolicyBook } from "./policy/book.ts"
import { ruleDoor } from "./policy/rule-door.ts"
import { toLLMTools, type LLMFormat, type LLMTools } from "./registry/formats.ts"
import { ToolGroupManager } from "./registry/groups.ts"
import { ToolRegistry } from "./registry/registry.ts"
import { fileDigests } from "./store/file-digests.ts"
import { lazyAudit, lazyCalls } from "./store/lazy.ts"
import { masker } from "./store/mask.ts"
import { ownerName } from "./store/owner.ts"
import { sessionEnvironment } from "./store/session-environment.ts"
import { openStore, type Store } from "./store/store.ts"
import type { Telemetry } from "./telemetry/spans.ts"
import { artifactTools } from "./tools/artifact/index.ts"
import { consoleTools } from "./tools/console/index.ts"
import { dataTools } from "./tools/data/index.ts"
import { interactionTools } from "./tools/interaction/index.ts"
import { orgManagementTools } from "./tools/org_management/index.ts"
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
  /** How often what nobody came back for is ended; 0 switches it off. */
  sweepMs?: number
  /** The folder this process works in; the current one when left out. */
  workspace?: string
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
    return assemble(config, options, store, owner, logger)
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
  const { documents } = store
  const levelOrder = config.org?.levelOrder ?? "asc"
  const workspace = realPath(options.workspace ?? process.cwd())
  const groups = new ToolGroupManager({
    logger,
    onChange: (group, change) => emit({ type: "GROUP_CHANGED", at: Date.now(), group, change }),
  })
  const registry = new ToolRegistry({
    groups,
    logger,
    levelOrder,
    permissions: config.tools?.permissions ?? {},
    ...(options.tightening === undefined ? {} : { tightening: options.tightening }),
    enabled: config.tools?.enabled,
    onChange: (tool, change) => emit({ type: "TOOL_LIST_CHANGED", at: Date.now(), tool: tool.id, change }),
  })
  const org = new Directory({
    config: config.org ?? {},
    documents,
    messages: store.messages,
    groups: { has: (id) => groups.hasGroup(id), list: () => groups.listGroups() },
    levelOrder,
    emit,
    onTerminated: (agentIds) => endCallsOf(agentIds, ports),
  })
  registry.registerMany(
    [...builtinTools(options, store), ...orgManagementTools(org, { list: () => groups.listGroups() })],
    { type: "builtin" },
  )
  const stops = freezer(documents, (agentId) => org.findAgent(agentId) !== undefined)
  const named = {
    canonical: (name: string) => registry.get(name)?.name ?? name,
    inGroups: (tool: RegisteredTool, ids: readonly string[] | null) => registry.inGroups(tool, ids),
  }
  const rules = ruleDoor(documents, config.rules ?? [], {
    ...named,
    tools: () => registry.list(),
    groups: () => groups.listGroups().map(({ id }) => id),
    roles: () => org.listRoles(),
    departments: () => org.listDepartments().map(({ id }) => id),
    agents: () => org.listAgents().map(({ id }) => id),
    view: (agentId) => org.view(agentId),
    touches: touchesOf,
  })
  const policyWith = (list: () => readonly Rule[]) =>
    new PolicyBook({
      rules: list,
      grants: () => liveGrants(documents),
      modeOf: (sessionId) => stops.modeOf(sessionId),
      version: () => documents.version,
      tools: named,
      toolsVersion: () => registry.version,
      policyVersion: policyVersion(config, documents, registry),
    })
  const policy = policyWith(() => rules.list())
  const discovery = new ToolDiscovery(registry, org, levelOrder, policy)
  const permits = new AgentPermits(mostAtOnce(config))
  const notify = notifier(config.notify ?? [], logger)
  const closer = new AbortController()
  setMaxListeners(0, closer.signal)
  let closing: Promise<void> | undefined
  const ports: Ports = {
    tools: registry,
    organisation: org,
    policy,
    limits: store.limits,
    permits,
    recorder: store.recorder,
    calls: lazyCalls(store),
    artifacts: store.artifacts,
    masker: masker(store.key),
    approvals: { ...adapterOf(options) },
    grants: {
      keep: async (grant) => void (await documents.put({ kind: "grant", id: grant.id, body: grant }, grant.by)),
    },
    rolesOf: (person) => org.findPerson(person)?.roles,
    isAgent: (name) => org.findPerson(name) === undefined && org.findAgent(name) !== undefined,
    emit,
    hears: emitter.hears,
    running: new Map(),
    closing: closer.signal,
    logger,
    settings: {
      durability: config.data?.durability ?? "crash",
      timeoutMs: config.tools?.timeout ?? defaults.tools.timeout,
      approvalDeadlineMs: (config.approvals?.deadline ?? defaults.approvals.deadline) * 60_000,
      unattended: config.approvals?.unattended ?? "wait",
      levelOrder,
      workspace,
    },
    owner,
    alive: (other) => store.leases.alive(other),
    digests: (touches) => fileDigests(touches, workspace),
    notify: (row) => notify(deskItem(row)),
    now: Date.now,
  }
  const app = doors(ports, emitter, store, () => {
    if (logger !== silentLogger) for (const { source, sentence } of rules.flaws()) logger.warn(`${source}: ${sentence}`)
  })
  const sweeper = startSweeper(ports, options.sweepMs ?? 30_000, logger)
  const watch = watchDocuments(ports, documents, logger)
  if (options.telemetry !== undefined) void trace(app.on, options.telemetry)
  const { idle: _idle, ...open } = app
  return {
    ...open,
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
        return simulate(proposed, filter, { ports, policyWith: besides, audit: app.audit })
      },
    },
    why: (request) => why(request, ports, policy),
    freeze: async (given) => {
      await stops.freeze(given)
      emit({ type: "AGENT_CHANGED", at: Date.now(), agent: given.agentId ?? everyone, change: "frozen" })
      await everywhere(options)
    },
    thaw: async (given) => {
      const thawed = await stops.thaw(given)
      if (thawed) emit({ type: "AGENT_CHANGED", at: Date.now(), agent: given.agentId ?? everyone, change: "thawed" })
      return thawed
    },
    frozen: () => stops.frozen(),
    setMode: (given) => stops.setMode(given).then(() => everywhere(options)),
    backup: async (folder) => (await import("./store/backup.ts")).backup(store, folder),
    listGroups: () => groups.listGroups(),
    visibleTools: (agentId) => discovery.discoverToolsForAgent(agentId),
    getToolDefinitionsForAgent: (agentId) =>
      toLLMTools(discovery.discoverToolsForAgent(agentId), "openai", registry.wireNames()),
    executor: (agentId) => new ToolExecutor(app, registry, agentId ?? config.agent ?? "operator"),
    toolsFor: (agentId, { format } = {}) =>
      toLLMTools(discovery.discoverToolsForAgent(agentId), format ?? "openai", registry.wireNames()) as never,
    settle: () => store.recorder.settle(),
    close: () => (closing ??= shut()),
  }

  /** Cancels what runs, leaves at the desk what waits for a person, writes down the endings, then closes the store. */
  async function shut(): Promise<void> {
    clearInterval(sweeper)
    clearInterval(watch)
    closer.abort()
    permits.cancelWaiting()
    for (const { cancel } of ports.running.values()) cancel()
    await app.idle()
    await notify.idle()
    await store.close()
  }
}

async function trace(on: App["on"], telemetry: Telemetry): Promise<void> {
  const { traceCalls } = await import("./telemetry/spans.ts")
  traceCalls(on, telemetry.tracer, telemetry)
}

const watchMs = 100

/** Sees what other processes changed; a call that runs for a frozen or ended agent is cancelled. */
function watchDocuments(ports: Ports, documents: Documents, logger: Logger): NodeJS.Timeout {
  documents.onChange(() => {
    for (const { agentId, cancel } of ports.running.values()) {
      const who = ports.organisation.view(agentId)
      if (who === undefined) cancel(new Ending("aborted", `Agent ${agentId} was ended, and its calls with it.`))
      else if (who.frozen !== undefined)
        cancel(new Ending("frozen", `Agent ${agentId} was frozen by ${who.frozen.by} while the tool ran.`))
    }
  })
  return setInterval(() => {
    documents.refresh().catch((error: unknown) => logger.error("Changes of other processes could not be read.", error))
  }, watchMs).unref()
}

/** A command that ends at once waits until every other process has seen what it did. */
async function everywhere({ writes }: QuartermasterOptions): Promise<void> {
  if (writes === "direct") await new Promise((resolve) => setTimeout(resolve, 2.5 * watchMs))
}

async function endCallsOf(agentIds: readonly string[], ports: Ports): Promise<void> {
  const { sweep } = await import("./call/abandoned.ts")
  for (const agentId of agentIds) await sweep(ports, agentId)
}

function liveGrants(documents: Documents): Grant[] {
  return [...documents.all("grant")].filter(({ live }) => live).map(({ body }) => body as Grant)
}

/** A hash of everything that decides: configuration, organisation, rules, grants, modes, and what each tool is held to. */
function policyVersion(config: Config, documents: Documents, registry: ToolRegistry): () => string {
  const { tools, org, agents, rules, approvals } = config
  const configured = sha256(canonicalJson({ tools, org, agents, rules, approvals }))
  let known = { key: "", hash: "" }
  return () => {
    const key = `${documents.version}/${registry.version}`
    if (known.key !== key) {
      const held = registry
        .list()
        .map(({ id, permission, effect, kind, group, enabled }) =>
          JSON.stringify([id, permission, effect, kind, group, enabled]),
        )
      known = { key, hash: sha256([configured, documents.digest, ...held.sort()].join("\n")).slice(0, 16) }
    }
    return known.hash
  }
}

/** Both ways of asking a person, where they are given. */
function adapterOf({ approvals, ask }: QuartermasterOptions): Partial<ApprovalUIAdapter> {
  const showQuestion: ApprovalUIAdapter["showQuestion"] =
    ask && (async (question, { signal }) => ({ answer: await ask({ ...question, signal }) }))
  return {
    ...(approvals && {
      showToolExecutionApproval: approvals.showToolExecutionApproval.bind(approvals),
      showToolResultApproval: approvals.showToolResultApproval.bind(approvals),
      ...(approvals.showQuestion && { showQuestion: approvals.showQuestion.bind(approvals) }),
    }),
    ...(showQuestion && { showQuestion }),
  }
}

function realPath(folder: string): string {
  try {
    return realpathSync(folder)
  } catch {
    return resolvePath(folder)
  }
}

/** What a caller hears whose call still waits for a person when the house is closed. It has not ended. */
function leftWaiting({ callId }: Ticket, { tool }: CallRequest): ToolResult {
  const error = `Quartermaster was closed while call ${callId} waits for a person. Go on with resume(callId).`
  const metadata = { ran: false, waiting: true }
  return {
    callId,
    toolName: tool,
    version: "",
    status: "error",
    success: false,
    code: "aborted",
    error,
    startedAt: Date.now(),
    metadata,
  }
}

type Doors = "call" | "submit" | "resume" | "callMany" | "executeOrThrow" | "on" | "audit"

/** What every door can do. */
function doors(ports: Ports, emitter: Emitter, store: Store, beforeFirst: () => void) {
  let inFlight = 0
  let isFirst = true
  let quiet: () => void = () => {}
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    if (ports.closing.aborted) throw new Error("Quartermaster is closed. Create a new one to call tools.")
    if (isFirst) {
      // Only now: the host's own tools are registered, so that no rule about them looks dead.
      isFirst = false
      beforeFirst()
    }
    inFlight++
    try {
      return await work()
    } finally {
      if (--inFlight === 0) quiet()
    }
  }
  const call = async (request: CallRequest): Promise<ToolResult> => {
    const ended = await counted(() => callTool(request, ports))
    return isTicket(ended) ? leftWaiting(ended, request) : ended
  }
  return {
    /** Resolves when no call is on its way. */
    idle: () => (inFlight === 0 ? Promise.resolve() : new Promise<void>((resolve) => (quiet = resolve))),
    call,
    submit: (request, { waitMs }) => counted(() => callTool(request, ports, { patienceMs: waitMs })),
    async resume(callId, { waitMs } = {}): Promise<ToolResult | Ticket> {
      const { resume } = await import("./call/resume.ts")
      const ended = await counted(() => resume(callId, ports, waitMs))
      if (ended === undefined) throw new Error(`There is no call '${callId}' that waits or ended within the last day.`)
      return ended
    },
    callMany: (requests) => Promise.all(requests.map(call)),
    async executeOrThrow<T>(request: CallRequest): Promise<T> {
      const ended = await call(request)
      if (!ended.success) throw errorOf(ended)
      return ended.result as T
    },
    on: (type, listener) => emitter.on(type, listener),
    audit: lazyAudit(store),
  } satisfies Pick<App, Doors> & { idle(): Promise<void> }
}

function builtinTools({ print, environment }: QuartermasterOptions, store: Store) {
  return [
    ...dataTools(),
    ...systemTools(sessionEnvironment(store.database), environment ?? process.env),
    ...consoleTools(print ?? ((text) => void process.stderr.write(`${printable(text)}\n`))),
    ...interactionTools(),
    ...artifactTools(),
  ]
}

function refuseBadConfig(config: Config): void {
  const { flaws } = checkConfig(config)
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

function startSweeper(ports: Ports, everyMs: number, logger: Logger): NodeJS.Timeout | undefined {
  if (everyMs === 0) return undefined
  const look = async () => {
    const { sweep } = await import("./call/abandoned.ts")
    const { keyWindowMs } = await import("./call/states.ts")
    await sweep(ports)
    await ports.calls.erase(ports.now() - keyWindowMs)
  }
  return setInterval(() => {
    look().catch((error: unknown) => logger.error("What nobody came back for could not be ended.", error))
  }, everyMs).unref()
}
