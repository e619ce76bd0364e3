import { setMaxListeners } from "node:events"
import { resolve as resolvePath } from "node:path"
import { printable } from "./approval/printable.ts"
import { callTool } from "./call/call.ts"
import { ToolDiscovery } from "./call/discovery.ts"
import { ToolExecutor } from "./call/executor.ts"
import { AgentPermits } from "./call/permits.ts"
import { checkConfig } from "./config/check.ts"
import { defaults, type Config } from "./config/schema.ts"
import { Emitter } from "./emitter.ts"
import type { App, AuditReader } from "./model/app.ts"
import type { ApprovalUIAdapter, Ask } from "./model/approval.ts"
import type { CallRequest } from "./model/call.ts"
import { errorOf } from "./model/errors.ts"
import { silentLogger, type Logger } from "./model/logger.ts"
import type { CallStore, Ports } from "./model/ports.ts"
import { canonicalJson, sha256 } from "./model/plain.ts"
import type { ToolPermission } from "./model/permission.ts"
import { isTicket, type Ticket, type ToolResult } from "./model/result.ts"
import { Directory } from "./org/directory.ts"
import { SlidingLimits } from "./policy/limits.ts"
import { toLLMTools, type LLMFormat, type LLMTools } from "./registry/formats.ts"
import { ToolGroupManager } from "./registry/groups.ts"
import { ToolRegistry } from "./registry/registry.ts"
import { masker } from "./store/mask.ts"
import { ownerLives, ownerName } from "./store/owner.ts"
import { sessionEnvironment } from "./store/session-environment.ts"
import { openStore, type Store } from "./store/store.ts"
import { artifactTools } from "./tools/artifact/index.ts"
import { consoleTools } from "./tools/console/index.ts"
import { dataTools } from "./tools/data/index.ts"
import { interactionTools } from "./tools/interaction/index.ts"
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
}

/** The running system. */
export interface Quartermaster extends App {
  readonly registry: ToolRegistry
  readonly groups: ToolGroupManager
  readonly org: Directory
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
  const levelOrder = config.org?.levelOrder ?? "asc"
  const groups = new ToolGroupManager({
    logger,
    onChange: (group, change) => emitter.emit({ type: "GROUP_CHANGED", at: Date.now(), group, change }),
  })
  const registry = new ToolRegistry({
    groups,
    logger,
    levelOrder,
    permissions: config.tools?.permissions ?? {},
    ...(options.tightening === undefined ? {} : { tightening: options.tightening }),
    enabled: config.tools?.enabled,
    onChange: (tool, change) => emitter.emit({ type: "TOOL_LIST_CHANGED", at: Date.now(), tool: tool.id, change }),
  })
  registry.registerMany(builtinTools(options, store), { type: "builtin" })
  const org = new Directory(config.org)
  const discovery = new ToolDiscovery(registry, org, levelOrder)
  const permits = new AgentPermits(mostAtOnce(config))
  const closer = new AbortController()
  setMaxListeners(0, closer.signal)
  let closing: Promise<void> | undefined
  const ports: Ports = {
    tools: registry,
    organisation: org,
    limits: new SlidingLimits((agentId, tool, since) => startedSince(store, agentId, tool, since)),
    permits,
    recorder: store.recorder,
    calls: lazyCalls(store),
    artifacts: store.artifacts,
    masker: masker(store.key),
    approvals: options.approvals,
    emit: emitter.emit,
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
      policy: sha256(canonicalJson({ tools: config.tools, org: config.org, agents: config.agents })).slice(0, 16),
    },
    owner,
    alive: ownerLives,
    now: Date.now,
  }
  const app = doors(ports, emitter, store)
  const sweeper = startSweeper(ports, options.sweepMs ?? 30_000, logger)
  const { idle: _idle, ...open } = app
  const system: Quartermaster = {
    ...open,
    registry,
    groups,
    org,
    discovery,
    listGroups: () => groups.listGroups(),
    visibleTools: (agentId) => discovery.discoverToolsForAgent(agentId),
    executor: (agentId) => new ToolExecutor(app, registry, agentId ?? config.agent ?? "operator"),
    toolsFor: (agentId, { format } = {}) =>
      toLLMTools(discovery.discoverToolsForAgent(agentId), format ?? "openai", registry.wireNames()) as never,
    settle: () => store.recorder.settle(),
    close: () => (closing ??= shut()),
  }
  return system

  /** Cancels what runs, leaves at the desk what waits for a person, writes down the endings, then closes the store. */
  async function shut(): Promise<void> {
    clearInterval(sweeper)
    closer.abort()
    permits.cancelWaiting()
    for (const cancel of ports.running.values()) cancel()
    await app.idle()
    await store.close()
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

/** What every door can do. */
function doors(ports: Ports, emitter: Emitter, store: Store) {
  let inFlight = 0
  let quiet: () => void = () => {}
  const counted = async <T>(work: () => Promise<T>): Promise<T> => {
    if (ports.closing.aborted) throw new Error("Quartermaster is closed. Create a new one to call tools.")
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
    waiting: () => ports.calls.list({ states: ["waiting", "held"] }),
    answer: (callId, answer) =>
      ports.calls.answer(callId, { ...answer, approved: answer.approved === true, at: Date.now() }),
    audit: lazyAudit(store),
  } satisfies Omit<App, "visibleTools" | "listGroups" | "close"> & { idle(): Promise<void> }
}

function builtinTools({ ask, print, environment }: QuartermasterOptions, store: Store) {
  return [
    ...dataTools(),
    ...systemTools(sessionEnvironment(store.database), environment ?? process.env),
    ...consoleTools(print ?? ((text) => void process.stderr.write(`${printable(text)}\n`))),
    ...interactionTools(ask),
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

/** The calls table is opened by the first call that needs it. */
function lazyCalls(store: Store): CallStore {
  return {
    insert: async (row) => (await store.calls()).insert(row),
    get: async (id) => (await store.calls()).get(id),
    swap: async (id, expected, change) => (await store.calls()).swap(id, expected, change),
    answer: async (id, answer) => (await store.calls()).answer(id, answer),
    list: async (filter) => (await store.calls()).list(filter),
    changesSince: async (cursor) => (await store.calls()).changesSince(cursor),
    waitForChange: async (id, milliseconds, signal) => (await store.calls()).waitForChange(id, milliseconds, signal),
    erase: async (olderThan) => (await store.calls()).erase(olderThan),
    clock: async () => (await store.calls()).clock(),
  }
}

function lazyAudit(store: Store): AuditReader {
  return {
    list: async (filter) => (await store.audit()).list(filter),
    show: async (callId) => (await store.audit()).show(callId),
    stats: async (filter) => (await store.audit()).stats(filter),
    verify: async (head) => (await store.audit()).verify(head),
    head: async () => (await store.audit()).head(),
  }
}

async function startedSince(store: Store, agentId: string, tool: string, since: number): Promise<number[]> {
  const rows = store.database
    .prepare(
      `select at - duration_ms as started from ended where agent = ? and tool = ? and at >= ? and start_place is not null order by 1`,
    )
    .all(agentId, tool, since) as { started: number }[]
  return rows.map((row) => row.started)
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
