import { join } from "node:path"
import { asUnnamed } from "../config/known-folders.ts"
import type { EventType, Listener } from "../core/events.ts"
import type { ToolResult } from "../core/result.ts"
import { PrivateApp, type PrivateAppSettings, type PrivateCallContext } from "./private-app.ts"

const mostFences = 8

/** Private apps over the same tools, one for each list of paths that calls are limited to. */
export class FencedApps {
  readonly #settings: PrivateAppSettings
  readonly #apps = new Map<string, PrivateApp>()
  readonly #listeners: ((app: PrivateApp) => void)[] = []

  constructor(settings: PrivateAppSettings) {
    this.#settings = settings
  }

  /** The fence is `allowedPaths` of the context, else those of the configuration, else the working folder. */
  call(name: string, input: unknown, context: PrivateCallContext = {}): Promise<ToolResult> {
    return this.#appFor(context.allowedPaths).call(name, input, context)
  }

  on<T extends EventType>(type: T, listener: Listener<T>): void {
    const listen = (app: PrivateApp) => app.on(type, listener)
    this.#listeners.push(listen)
    for (const app of this.#apps.values()) listen(app)
  }

  async close(): Promise<void> {
    const apps = [...this.#apps.values()]
    this.#apps.clear()
    await Promise.all(apps.map((app) => app.close()))
  }

  #appFor(allowedPaths: readonly string[] | undefined): PrivateApp {
    const folder = process.cwd()
    const key = JSON.stringify([folder, allowedPaths])
    const known = this.#apps.get(key)
    if (known !== undefined) return known
    const { config = {}, options } = this.#settings
    const tools = allowedPaths === undefined ? config.tools : { ...config.tools, allowedPaths: [...allowedPaths] }
    const isPlaced = (config.workspace ?? config.tools?.workspaceDir) !== undefined
    const data = asUnnamed({ dir: join(folder, ".quartermaster") })
    const app = new PrivateApp({
      ...this.#settings,
      config: { data, ...config, ...(tools === undefined ? {} : { tools }) },
      options: { ...(isPlaced ? {} : { workspace: folder }), ...options },
    })
    for (const listen of this.#listeners) listen(app)
    this.#closeOldest()
    this.#apps.set(key, app)
    return app
  }

  /** An open app has a few open files. */
  #closeOldest(): void {
    if (this.#apps.size < mostFences) return
    const [key, app] = [...this.#apps].find(([, each]) => each.isIdle) ?? []
    if (key !== undefined) this.#apps.delete(key)
    void app?.close()
  }
}

const standalone = new Map<string, FencedApps>()

/** Makes a call of one tool for its standalone `execute(params, context)`. */
export function callStandalone(
  settings: PrivateAppSettings,
  name: string,
  input: unknown,
  context?: PrivateCallContext,
): Promise<ToolResult> {
  const apps = standalone.get(settings.design) ?? new FencedApps(settings)
  standalone.set(settings.design, apps)
  return apps.call(name, input, context)
}

/** Closes the apps of all standalone calls, for tests. */
export async function closeStandalone(): Promise<void> {
  await Promise.all([...standalone.values()].map((apps) => apps.close()))
}
