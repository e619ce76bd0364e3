import { AsyncLocalStorage } from "node:async_hooks"
import { sep } from "node:path"
import { pathToFileURL } from "node:url"

/** Whose code runs: that of a plugin, for a call of its tool or for itself. */
export interface PluginCode {
  readonly plugin: string
  readonly tool?: string
}

const running = new AsyncLocalStorage<PluginCode>()
/** The plugin of each file or folder that was imported. One that was unloaded stays: its timers may still run. */
const places = new Map<string, string>()

/** Runs code of a plugin, so that an error in what it starts is known to be the plugin's. */
export function runPluginCode<T>(code: PluginCode, work: () => T): T {
  return running.run(code, work)
}

export function rememberPluginPlace(plugin: string, { file, folder }: { file: string; folder?: string }): void {
  places.set(folder === undefined ? file : folder + sep, plugin)
}

/** Whose error it is that nothing caught, or undefined if it is no plugin's. Asked where the error is reported. */
export function pluginAtFault(error: unknown): PluginCode | undefined {
  return running.getStore() ?? pluginInStack(error)
}

/** For errors that Node reports without their context: those of a `queueMicrotask`, and of listeners that others call. */
function pluginInStack(error: unknown): PluginCode | undefined {
  if (!(error instanceof Error) || typeof error.stack !== "string") return undefined
  const frames = error.stack.split("\n").filter((line) => line.trimStart().startsWith("at "))
  for (const [place, plugin] of places) {
    if (frames.some((frame) => isIn(place, frame) || isIn(pathToFileURL(place).href, frame))) return { plugin }
  }
  return undefined
}

/** Packages inside of the folder are not the plugin's own code; this library may be one of them. */
function isIn(place: string, frame: string): boolean {
  const at = frame.indexOf(place)
  return at !== -1 && !frame.slice(at + place.length).includes("node_modules")
}
