import type { Layer } from "./tool.ts"

/** One plugin or module of the configuration: a file, a folder, or the name of an installed package. */
export interface PluginEntry {
  readonly path: string
  /** Who is given its tools; the system when left out. */
  readonly layer?: Layer | undefined
  /** What its `init` is given. */
  readonly config?: Readonly<Record<string, unknown>> | undefined
}

/** What a plugin is known by: the SHA-256 of its file, or of all files of its folder. Packages it imports are in neither. */
export interface PluginDigest {
  readonly sha256: string
  readonly covers: "file" | "folder"
  /** How many files that are. */
  readonly files: number
}

/** A plugin or module, and how it is. */
export interface PluginState {
  /** Also the id of its group. Where nothing is known of it yet, the path as it was given. */
  readonly name: string
  /** *module* is S0's, *plugin* S3's, *tool* a file with a single tool. */
  readonly kind?: "plugin" | "module" | "tool" | undefined
  readonly version?: string | undefined
  /** Absolute; left out for an object that was handed over. */
  readonly path?: string | undefined
  /** The path as the configuration has it. */
  readonly given?: string | undefined
  readonly layer: Layer
  /** *off*: a person has switched it off. */
  readonly state: "loaded" | "failed" | "off"
  /** Why it is not loaded, or why a changed file of it is not; a sentence. */
  readonly problem?: string | undefined
  readonly group?: string | undefined
  /** Their ids, `layer:name@version`. */
  readonly tools: readonly string[]
  readonly digest?: PluginDigest | undefined
  readonly loadedAt?: number | undefined
}

/** What is told of a plugin before its tools are there; who refuses it here keeps it out. */
export interface LoadingPlugin {
  readonly name: string
  readonly version?: string | undefined
  readonly path?: string | undefined
  readonly given?: string | undefined
  readonly layer: Layer
  readonly tools: readonly string[]
  readonly digest?: PluginDigest | undefined
}

/** The plugins of a running house. */
export interface PluginBook {
  list(): readonly PluginState[]
  /** Loads one more, in this process and until it ends; rejects with a sentence when that cannot be. */
  load(entry: PluginEntry): Promise<PluginState>
  /** Takes one out of every process until somebody switches it on again. Undefined when there is none of that name. */
  switchOff(name: string, by: string): Promise<PluginState | undefined>
  /** Undefined when none of that name is off. */
  switchOn(name: string, by: string): Promise<PluginState | undefined>
}
