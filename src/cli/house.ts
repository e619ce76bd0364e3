import type { App } from "../model/app.ts"
import type { ApprovalUIAdapter, DeskItem } from "../model/approval.ts"

/** Where a command reads and writes. Nothing in this folder looks at `process` for it. */
export interface Io {
  readonly stdin: NodeJS.ReadStream
  readonly stdout: NodeJS.WriteStream
  readonly stderr: NodeJS.WriteStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly home: string
  /** Whether the terminal is ours to read; a command behind `&` would be stopped for trying. */
  isInForeground?: () => boolean
  /** Ends the process at once, for someone who asks a second time. */
  leave: (code: number) => void
}

/** What the command line is given of the house. Made by `bin.ts`, which loads each part when it is asked for. */
export interface House {
  version(): string
  /** Throws an error named ConfigError whose message has one line for each problem. */
  loadConfig(options: { configPath?: string | undefined; overrides: Readonly<Record<string, string>> }): Promise<Loaded>
  /** Opens what `loadConfig` of the same house returned. */
  open(loaded: Loaded, options?: OpenOptions): Promise<App>
  /** The person at this terminal. `yes` answers for what is not sensitive. */
  person(terminal: { yes: boolean }): { approvals: ApprovalUIAdapter }
  writeInitialConfig(folder: string): Promise<{ file: string; schemaFile: string; sha256: string }>
  /** Reads a configuration file for a person who is about to trust it; without a path, the one in this folder. */
  examine(file: string | undefined): Promise<Examined>
  /** Looks at a data folder for a person who is about to trust it. */
  examineFolder(folder: string): Promise<{ folder: string; pin: () => void }>
  /** Who speaks: the person named by `--as`, else the user of this machine. Throws a sentence when that is not proved. */
  whoIs(as: string | undefined, loaded: Loaded, app: App): Promise<{ id: string; proved: string }>
  /** Keeps a new person's token where `--as` finds it, and returns the file. */
  keepPersonToken(id: string, token: string): string | Promise<string>
  /** What waits at the desk, as lines that are safe to print. */
  card(item: DeskItem, options: { whole: boolean }): Promise<string[]>
  /** What a YAML or JSON file holds. Throws an error named ConfigError for each problem in it. */
  readDataFile(path: string): Promise<unknown>
  /** Makes a data folder of what `qm backup` copied; `previous` is where the one that was there is now. */
  restore(
    folder: string,
    loaded: Loaded,
    options: { replace: boolean },
  ): Promise<{ files: number; bytes: number; records: number; previous?: string }>
  /** Which SQLite opens here, by its package and version. */
  sqlite(): Promise<{ name: string; version: string }>
  /** Listens for callers over HTTP, where the configuration and these say. */
  serveHttp(app: App, loaded: Loaded, given: { host?: string | undefined; port?: number | undefined }): Promise<Served>
  /** Speaks MCP for one agent until the other end is gone or the signal says so. */
  serveStdio(app: App, speaker: McpSpeaker, streams: McpStreams): Promise<void>
  /** Reads what another program is configured with, and what that is in a configuration of ours. */
  importFrom(client: Client, path: string | undefined): Promise<Imported>
  /** Writes such a configuration here, for a person to read before it is trusted. Never overwrites. */
  writeImported(folder: string, imported: Imported): Promise<{ file: string; schemaFile: string }>
  /** How another program's configuration would have to change so that it starts or calls this one. */
  installInto(client: Client | { path: string }, wish: Wish, loaded: Loaded): Promise<Installation>
  /** Text for a person's eyes, without characters that paint on a terminal. */
  printable: (text: string) => string
}

/** Programs whose configuration can be read and written. */
export const clients = ["claude", "cursor", "vscode"] as const
export type Client = (typeof clients)[number]

export interface Served {
  readonly url: string
  close(): Promise<void>
}

/** Who speaks at the other end of MCP; without a person, nobody's answers come from there. */
export interface McpSpeaker {
  agentId: string
  person?: string | undefined
}

export interface McpStreams {
  stdin: NodeJS.ReadableStream
  stdout: NodeJS.WritableStream
  signal: AbortSignal
}

export interface Imported {
  /** The files that were read. */
  files: readonly string[]
  /** The configuration as YAML. */
  text: string
  servers: readonly string[]
  rules: number
  /** What could not be taken over, or is to be looked at; a sentence each. */
  notes: readonly string[]
}

/** For which agent, by which name, and whether it calls a running server instead of starting one. */
export interface Wish {
  agent: string
  name: string
  http: boolean
}

export interface Installation {
  file: string
  /** What is there now; undefined when there is no such file. */
  before: string | undefined
  after: string
  /** What is still to be done, a sentence each. */
  next: readonly string[]
  /** Writes it; returns where what was there before is kept. */
  write(): string | undefined
}

export interface Loaded {
  readonly config: {
    readonly agent?: string | undefined
    readonly approvals?: { readonly unattended?: "wait" | "reject" | undefined } | undefined
    readonly org?: unknown
  }
  /** Absolute. */
  readonly dataDir: string
  readonly warnings: readonly string[]
  readonly trusted: boolean
  readonly configFile?: string
}

export interface OpenOptions {
  /** True for a process that stays: it writes a journal, ends what nobody came back for, and connects to servers at once. */
  stays?: boolean
  print?: (text: string) => void
  approvals?: ApprovalUIAdapter
  /** Loads plugins again when their files change. */
  reloadPlugins?: boolean
}

export interface Examined {
  /** The configuration file, and the local file beside it if there is one. */
  files: readonly { file: string; sha256: string }[]
  /** What the file says that counts only when it is trusted, one `key: value` each. */
  allows: readonly string[]
  /** Trusts exactly these bytes. */
  pin: () => void
}

/** The flags every command has. */
export interface Flags {
  json: boolean
  agent?: string | undefined
  /** Who answers and changes; the user of this machine when left out. */
  as?: string | undefined
  config?: string | undefined
  data?: string | undefined
  set: readonly string[]
}

/** What a command is run with. */
export interface Session {
  io: Io
  house: House
  flags: Flags
}

/** Makes a command's work into what the parser calls; the number it resolves with is the exit code. */
export type Run = <Given extends unknown[]>(
  work: (session: Session, ...given: Given) => Promise<number>,
) => (...given: Given) => Promise<void>
