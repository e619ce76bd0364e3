import type { Layer } from "../../core/tool.ts"

/** One plugin or module of the configuration: a file, a folder, or the name of an installed package. */
export interface PluginEntry {
  readonly path: string
  /** The layer of its tools. Default: `system`. */
  readonly layer?: Layer
  /** Passed to its `init`. */
  readonly config?: Readonly<Record<string, unknown>>
}

/** The hash of a plugin's file, or of all files of its folder. Packages that it imports are not covered. */
export interface PluginDigest {
  readonly sha256: string
  readonly covers: "file" | "folder"
  /** The number of files. */
  readonly files: number
}

/** A plugin or module and its state. */
export interface PluginState {
  /** Its name. For one that could not be loaded, the path as configured. */
  readonly name: string
  /** *module*: exports `getToolDefinitions` and `executeToolCall`. *plugin*: exports a list `tools`. *tool*: one tool. */
  readonly kind?: "plugin" | "module" | "tool"
  readonly version?: string
  /** Absolute. Left out for a plugin that was passed as an object. */
  readonly path?: string
  /** The path as configured. */
  readonly given?: string
  readonly layer: Layer
  /** *off*: a person switched it off. */
  readonly state: "loaded" | "failed" | "off"
  /** Why it, or the newest version of its file, is not loaded, as a sentence. */
  readonly problem?: string
  readonly group?: string
  /** The ids of its tools, `layer:name@version`. */
  readonly tools: readonly string[]
  readonly digest?: PluginDigest
  readonly loadedAt?: number
}

/** A plugin that is about to be loaded. A listener that throws prevents it. */
export interface LoadingPlugin {
  readonly name: string
  readonly version?: string
  readonly path?: string
  readonly given?: string
  readonly layer: Layer
  readonly tools: readonly string[]
  readonly digest?: PluginDigest
}

/** The plugins of a running app. */
export interface PluginCatalog {
  list(): readonly PluginState[]
  /** Loads a plugin into this process, until it ends. Rejects with a sentence when it cannot be loaded. */
  load(entry: PluginEntry): Promise<PluginState>
  /** Unloads a plugin in every process until it is switched on again. Undefined when there is none of that name. */
  switchOff(name: string, by: string): Promise<PluginState | undefined>
  /** Undefined when no plugin of that name is off. */
  switchOn(name: string, by: string): Promise<PluginState | undefined>
}
