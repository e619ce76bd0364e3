/** A command to run. */
export interface CommandSpec {
  /** A script for the shell. */
  readonly command: string
  /** A folder inside the file roots. Default: the workspace. */
  readonly cwd?: string
  /** Added to the cleaned environment. */
  readonly environment?: Readonly<Record<string, string>>
  readonly stdin?: string
  /** True if it may use the network. */
  readonly network?: boolean
  readonly timeoutMs?: number
  /** The only paths it may use. In the sandbox, the rest of the file roots does not exist. */
  readonly allowedPaths?: readonly string[]
  /**
   * No person approved this run: of the confirmed paths, secrets are absent and files that are run later are read-only.
   */
  readonly unapproved?: boolean
  /** Fail rather than run outside bubblewrap. */
  readonly mustBeSandboxed?: boolean
}

/** Limits of one command with all processes it starts. A megabyte is 1024 * 1024 bytes. */
export interface CommandLimits {
  /** For all its processes together. */
  readonly memoryMb: number
  /** The largest file it may write. */
  readonly fileMb: number
  /** Limit of processes that run at once. */
  readonly processes: number
  /** The size of /tmp, and of each other folder that the sandbox keeps in memory. */
  readonly tmpMb: number
}

/** Enough for the build of a large project, too little to bring a machine down. */
export const defaultCommandLimits: CommandLimits = { memoryMb: 4096, fileMb: 2048, processes: 512, tmpMb: 1024 }

/** The limit for which a command was killed. */
export interface ExceededLimit {
  readonly limit: "memoryMb" | "processes"
  readonly most: number
  /** Says what happened and what to do. */
  readonly sentence: string
}

/** The sandbox that a command ran in, as written into the audit log. */
export interface SandboxLayer {
  readonly kind: "bubblewrap" | "none"
  /** For *none*: why there is no sandbox. */
  readonly because?: string
  readonly network: boolean
}

export interface CommandOutput {
  readonly stdout: string
  readonly stderr: string
  /** The number of characters missing in the two texts. */
  readonly dropped: number
}

/** The complete output of a command, when the two texts were cut. The receiver must call `drop`. */
export interface WholeOutput {
  readonly bytes: number
  /** True when this is cut too, because the command printed more than the limit. */
  readonly isCut: boolean
  read(): Promise<Buffer>
  drop(): void
}

export interface FinishedCommand extends CommandOutput {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly exceeded?: ExceededLimit
  readonly durationMs: number
  readonly sandbox: SandboxLayer
  /** The number of processes still running after the command's end, and killed. Not counted in the sandbox. */
  readonly leftovers: number
  readonly whole?: WholeOutput
}

export interface CommandWatch {
  readonly signal?: AbortSignal
  onOutput?(chunk: { stream: "stdout" | "stderr"; text: string }): void
}

export interface BackgroundCommand {
  readonly id: string
  readonly command: string
  readonly startedAt: number
  readonly status: "running" | "completed" | "killed" | "failed"
  readonly exitCode: number | null
  /** Why it was killed, as a sentence that is also in `stderr`. */
  readonly exceeded?: string
}

/** The owner of a background command: an agent, within its task. */
export interface CommandOwner {
  readonly agentId: string
  readonly taskId?: string
}

/**
 * Runs commands in their own process group and, if there is one, inside the sandbox. When a command ends, its whole
 * group is ended with it: TERM, a pause, KILL.
 */
export interface Processes {
  /** The sandbox that a command would run in now. Fails when a sandbox is required and there is none. */
  layer(network: boolean): SandboxLayer
  run(spec: CommandSpec, watch: CommandWatch): Promise<FinishedCommand>
  start(spec: CommandSpec, owner: CommandOwner): Promise<BackgroundCommand & { readonly sandbox: SandboxLayer }>
  /** Its status and what it printed since the last call. Fails for a command of another owner. */
  output(id: string, owner: CommandOwner): Promise<BackgroundCommand & CommandOutput>
  stop(id: string, owner: CommandOwner): Promise<BackgroundCommand>
  list(owner: CommandOwner): BackgroundCommand[]
  /** Ends all commands of these agents, also those that are about to start. */
  endAll(isTheirs: (agentId: string) => boolean): Promise<void>
  /** Ends all commands. */
  close(): Promise<void>
}
