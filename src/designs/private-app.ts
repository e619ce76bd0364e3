import { createQuartermaster } from "../app/create-app.ts"
import { adapterFromOptions } from "../approvals/ask/adapter-from-options.ts"
import { callbackAdapter, type ApprovalCallbacks } from "../approvals/ask/callback.ts"
import type { Config } from "../config/schema.ts"
import type { ApprovalUIAdapter, Ask } from "../core/approval.ts"
import type { CallRequest } from "../core/call.ts"
import type { Dialect } from "../registry/dialects/dialect.ts"
import type { EventType, Listener } from "../core/events.ts"
import type { Language } from "../core/language.ts"
import type { ToolResult } from "../core/result.ts"
import type { RegisteredTool } from "../core/tool.ts"
import type { Quartermaster, QuartermasterOptions } from "../app/quartermaster.ts"
import { nobodyToAsk } from "../call/stored/wait-for-answer.ts"
import { nameOf, type AnyTool } from "../registry/recognise-tool.ts"
import type { RegisterOptions, ToolRegistry } from "../registry/registry.ts"

/** Whose app it is, and what it is made of. */
export interface PrivateAppSettings {
  /** The design's id, for example `s4`. Its calls are made as an agent of this name. */
  design: string
  /** The language of the design, whatever the configuration says. */
  language: Language
  dialect?: Dialect
  config?: Config
  options?: QuartermasterOptions
  /** The only tools there are, read before every call. Left out: all built-in tools. */
  tools?: () => Iterable<PrivateTool>
  /** Puts something around each built-in tool. */
  wrap?: (tool: RegisteredTool) => RegisteredTool
}

/** A tool, or the name of a built-in one. */
export type PrivateTool = string | { tool: AnyTool; options?: RegisterOptions }

/** The optional context of a call of a private app. */
export interface PrivateCallContext extends Partial<
  Pick<CallRequest, "agentId" | "taskId" | "userId" | "sessionId" | "signal" | "timeoutMs" | "allowedPaths">
> {
  /** Answers what would be asked. Without it, such a call is refused. */
  approve?: ApprovalCallbacks["onExecution"]
  /** Answers the questions of `ask_user`. */
  ask?: Ask
  /** Both, and the release of results. `approve` counts before it. */
  approvals?: ApprovalUIAdapter
}

/**
 * An app that a design's classes use inside: opened by the first call, recorded like every other. A call that would ask is
 * refused unless the caller brings somebody to ask.
 */
export class PrivateApp {
  readonly #settings: PrivateAppSettings
  readonly #registered = new Map<string, AnyTool>()
  #builtIn = new Map<string, RegisteredTool>()
  readonly #listeners: ((app: Quartermaster) => void)[] = []
  #opening: Promise<Quartermaster> | undefined
  #opened: Quartermaster | undefined
  #calls = 0

  constructor(settings: PrivateAppSettings) {
    this.#settings = settings
  }

  get isIdle(): boolean {
    return this.#calls === 0
  }

  /** Makes a call. Like every call of the core it returns a result, however it ends. */
  async call(name: string, input: unknown, context: PrivateCallContext = {}): Promise<ToolResult> {
    this.#calls++
    try {
      const app = await this.open()
      return withAdvice(await callIn(app, this.#nameOfCall(app.registry, name), input, context))
    } finally {
      this.#calls--
    }
  }

  /** The app itself, with the tools that there are now. */
  async open(): Promise<Quartermaster> {
    const app = await (this.#opening ??= this.#create())
    this.#updateTools(app.registry)
    return app
  }

  on<T extends EventType>(type: T, listener: Listener<T>): void {
    const listen = (app: Quartermaster) => void app.on(type, listener)
    this.#listeners.push(listen)
    if (this.#opened !== undefined) listen(this.#opened)
  }

  async close(): Promise<void> {
    const opening = this.#opening
    this.#opening = this.#opened = undefined
    this.#registered.clear()
    openApps.delete(this)
    await (await opening?.catch(() => undefined))?.close()
  }

  async #create(): Promise<Quartermaster> {
    closeWhenProcessEnds(this)
    try {
      // Nothing of it may keep the process alive, which the threads of the journal do.
      const app = await createQuartermaster(configOf(this.#settings), { writes: "direct", ...this.#settings.options })
      const { wrap = (tool: RegisteredTool) => tool } = this.#settings
      this.#builtIn = new Map(app.registry.list({ type: "builtin" }).map((tool) => [tool.name, wrap(tool)]))
      if (this.#settings.wrap !== undefined)
        for (const tool of this.#builtIn.values()) app.registry.register(tool, { type: "builtin", replace: true })
      for (const listen of this.#listeners) listen(app)
      return (this.#opened = app)
    } catch (error) {
      // The next call tries again.
      this.#opening = undefined
      throw error
    }
  }

  #updateTools(registry: ToolRegistry): void {
    const wanted = this.#settings.tools === undefined ? undefined : [...this.#settings.tools()]
    if (wanted === undefined) return
    const kept = new Set(
      wanted.map((one) => (typeof one === "string" ? registry.canonicalName(one) : nameOf(one.tool))),
    )
    for (const name of registry.names()) if (!kept.has(name)) registry.unregister(name)
    for (const name of this.#registered.keys()) if (!kept.has(name)) this.#registered.delete(name)
    for (const one of wanted) {
      if (typeof one === "string") this.#registerBuiltIn(registry, registry.canonicalName(one))
      else this.#register(registry, one)
    }
  }

  /** It was removed while it was not listed. */
  #registerBuiltIn(registry: ToolRegistry, name: string): void {
    const tool = this.#builtIn.get(name)
    if (tool !== undefined && !registry.has(name)) registry.register(tool, { type: "builtin" })
  }

  #register(registry: ToolRegistry, { tool, options }: Exclude<PrivateTool, string>): void {
    const name = nameOf(tool) ?? ""
    if (this.#registered.get(name) === tool) return
    registry.unregisterAlias(name)
    registry.unregister(name)
    registry.register(tool, { ...options, replace: true })
    this.#registered.set(name, tool)
  }

  /** A tool that the design does not have is unknown, also where the core has one of that name. */
  #nameOfCall(registry: ToolRegistry, name: string): string {
    const { tools } = this.#settings
    if (tools === undefined) return name
    for (const one of tools()) if ((typeof one === "string" ? one : nameOf(one.tool)) === name) return name
    return registry.get(name) === undefined ? name : `${name}@none`
  }
}

/** Makes a call in an app. Of the context only what a request can hold goes along. */
export function callIn(
  app: Quartermaster,
  name: string,
  input: unknown,
  context: PrivateCallContext,
): Promise<ToolResult> {
  const { agentId, approve, ask, approvals, taskId, userId, sessionId, signal, timeoutMs, allowedPaths } = context
  const asked = approve === undefined ? approvals : callbackAdapter({ onExecution: approve })
  const caller = asked === undefined && ask === undefined ? {} : { approvalUI: adapterFromOptions(asked, ask) }
  const more = { taskId, userId, sessionId, signal, timeoutMs, allowedPaths, caller }
  return app.executor(agentId).execute(name, input, more)
}

function configOf({ design, language, dialect, config = {} }: PrivateAppSettings): Config {
  const role = { name: design, ...(dialect && { dialect }) }
  return {
    ...(config.org === undefined
      ? { agent: design, org: { roles: [role], agents: [{ id: design, role: design }] } }
      : {}),
    ...config,
    language,
    approvals: { ...config.approvals, unattended: "reject" },
  }
}

/** Says how to bring somebody to ask, where nobody was. */
function withAdvice(ended: ToolResult): ToolResult {
  if (ended.rejectReason !== nobodyToAsk) return ended
  return {
    ...ended,
    error: `${ended.error} Pass 'approve' in the context: a function that returns whether it may run.`,
  }
}

const openApps = new Set<PrivateApp>()
let isWatched = false

/** Nobody closes the app of a standalone call. It keeps no process alive, so it is closed when there is nothing left to do. */
function closeWhenProcessEnds(app: PrivateApp): void {
  openApps.add(app)
  if (isWatched) return
  isWatched = true
  process.once("beforeExit", () => void closeOpenApps())
}

async function closeOpenApps(): Promise<void> {
  isWatched = false
  await Promise.all([...openApps].map((app) => app.close()))
}
