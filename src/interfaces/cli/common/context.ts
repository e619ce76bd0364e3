import type { TypedCommand } from "./typed-command.ts"
import type { IdentifiedPerson } from "../../../config/identify-person.ts"
import type { LoadedConfig } from "../../../config/load.ts"
import type { Quartermaster } from "../../../app/quartermaster.ts"

/** The streams, environment and folders a command works with. Commands use this instead of `process`. */
export interface Io {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  /** The start of this program: the Node.js executable and the script. */
  readonly program: { readonly node: string; readonly script: string }
  /** The command by which the person starts this program, as its messages write it. */
  readonly typed: TypedCommand
  /** The options that a printed command needs to work in the same place, for example `-C demo`. */
  typedOptions?: readonly string[]
  /** Reports whether this process may read the terminal. A shell stops a background job (`qm … &`) that tries. */
  isInForeground?: () => boolean
  /** Ends the process immediately, for example on a second Ctrl-C. */
  leave: (code: number) => void
}

/** The parts that tests replace. `processRuntime` in runtime.ts is the real one. */
export interface Runtime {
  /** Throws a ConfigError with one line for each problem. */
  loadConfig(flags: Flags): Promise<LoadedConfig>
  openApp(loaded: LoadedConfig, options?: OpenOptions): Promise<Quartermaster>
  /** The person named by `--as`, otherwise the user of this machine. Throws if their identity is not proved. */
  identifyPerson(as: string | undefined, loaded: LoadedConfig, app: Quartermaster): Promise<IdentifiedPerson>
}

export interface OpenOptions {
  /** True for a process that keeps running: it writes a journal, ends expired calls and connects to MCP servers at once. */
  longLived?: boolean
  /** True for a command that only reads: where there is no store, it works on an empty one and creates none. */
  readOnly?: boolean
  print?: (text: string) => void
  /** Loads plugins again when their files change. */
  reloadPlugins?: boolean
}

/** The options every command has. */
export interface Flags {
  json: boolean
  agent?: string
  /** The person who answers and makes changes; the user of this machine if left out. */
  as?: string
  config?: string
  data?: string
  set: readonly string[]
}

/** The context that every command receives. */
export interface CliContext {
  io: Io
  runtime: Runtime
  flags: Flags
}

/** Turns a command's function into an action for the parser. The number it resolves with is the exit code. */
export type Run = <Args extends unknown[]>(
  command: (context: CliContext, ...args: Args) => Promise<number>,
) => (...args: Args) => Promise<void>
