/** A file, command, host or database that a call will use. */
export interface Touch {
  kind: "read" | "write" | "command" | "host" | "database"
  /** A path, a shell script or one segment of it, an address or host name, or the name of a database. */
  what: string
  /** For a command: its folder, its additional variables, and whether it may use the network. */
  cwd?: string
  environment?: Readonly<Record<string, string>>
  /** For a command: the variables that `set_env` has set for the session. */
  sessionEnvironment?: Readonly<Record<string, string>>
  network?: boolean
  /** For a command: it runs through `Processes`, so the sandbox can hold it. Only a tool's own code may set this. */
  sandboxed?: boolean
  /**
   * A file that a command names, or a command that the configuration lists. Deny and ask rules apply to it; an allow rule
   * need not cover it.
   */
  derived?: boolean
  /** For a path: the file itself is opened. It must be a regular file and, when written, have no second hard link. */
  opens?: boolean
  /** For a host: it comes from the configuration, so it may be a private address. Only a tool's own code may set this. */
  configured?: boolean
  /** For a host: a script of the agent's own runs in a page of it. A line that allows the host does not allow that. */
  script?: boolean
  /** For a database: the only roles whose agents may use it. */
  roles?: readonly string[]
}

/** The touches of a call. `proved` is true when the list is certain to be complete. */
export interface Touches {
  list: readonly Touch[]
  proved: boolean
  /** True when the tool does not say what it touches. */
  unknown?: boolean
}

/** The numbers and sizes of the files at a path. A path without a file, or with too many, is left out. */
export type FileSizes = Readonly<Record<string, { readonly files: number; readonly bytes: number }>>

export function isPath(kind: Touch["kind"]): boolean {
  return kind === "read" || kind === "write"
}
