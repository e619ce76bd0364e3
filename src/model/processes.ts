/** What to run, and inside what. */
export interface CommandSpec {
  /** A script for the shell. */
  readonly command: string
  /** A folder inside the fence; the workspace when left out. */
  readonly cwd?: string | undefined
  /** Added to the scrubbed environment. */
  readonly environment?: Readonly<Record<string, string>> | undefined
  readonly stdin?: string | undefined
  /** Whether it may reach the network; all or nothing. */
  readonly network?: boolean | undefined
  readonly timeoutMs?: number | undefined
  /** Whose command it is, for what is written down of it. */
  readonly agentId?: string | undefined
  /** The only paths it may use, where its request narrows the fence; in the sandbox nothing else of the roots is there. */
  readonly allowedPaths?: readonly string[] | undefined
}

/** What one command with all it starts may use up. A megabyte is 1024 * 1024 bytes. */
export interface CommandLimits {
  /** Of all its processes together. */
  readonly memoryMb: number
  /** The largest file it may write. */
  readonly fileMb: number
  /** At once. */
  readonly processes: number
  /** What fits into /tmp and each other folder that the sandbox has in memory. */
  readonly tmpMb: number
}

/** Enough for the build of a large project, too little to bring a machine down. */
export const usualLimits: CommandLimits = { memoryMb: 4096, fileMb: 2048, processes: 512, tmpMb: 1024 }

/** For what a command was ended. */
export interface ExceededLimit {
  readonly limit: "memoryMb" | "processes"
  readonly most: number
  /** Says so, and what to do. */
  readonly sentence: string
}

/** Which layer held a command: it is written into the record. */
export interface SandboxLayer {
  readonly kind: "bubblewrap" | "none"
  /** For *none*: why there is none. */
  readonly because?: string | undefined
  readonly network: boolean
}

export interface CommandOutput {
  readonly stdout: string
  readonly stderr: string
  /** Characters that were not kept in the two texts. */
  readonly dropped: number
}

/** All that a command printed, where the two texts are not all of it. Whoever is given it drops it. */
export interface WholeOutput {
  readonly bytes: number
  /** It is not even whole: more was printed than is ever kept. */
  readonly isCut: boolean
  read(): Promise<Buffer>
  drop(): void
}

export interface FinishedCommand extends CommandOutput {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly timedOut: boolean
  readonly exceeded?: ExceededLimit | undefined
  readonly durationMs: number
  readonly sandbox: SandboxLayer
  /**
   * Processes that were still there after the command had ended, and were ended too. In the sandbox the kernel ends them
   * with it, and nobody counts.
   */
  readonly leftovers: number
  /** What it made that no command may make, from the workspace. It was moved to the trash, and `stderr` says so. */
  readonly sealed?: readonly string[] | undefined
  readonly whole?: WholeOutput | undefined
}

export interface CommandWatch {
  readonly signal?: AbortSignal | undefined
  onOutput?(chunk: { stream: "stdout" | "stderr"; text: string }): void
}

export interface BackgroundCommand {
  readonly id: string
  readonly command: string
  readonly startedAt: number
  readonly status: "running" | "completed" | "killed" | "failed"
  readonly exitCode: number | null
  /** For what it was ended, in a sentence that `stderr` has too. */
  readonly exceeded?: string | undefined
  /** As for a finished one; nothing before its end. */
  readonly sealed?: readonly string[] | undefined
}

/** Whose a background command is: its agent's, and its task's where it has one. */
export interface CommandOwner {
  readonly agentId: string
  readonly taskId?: string | undefined
}

/**
 * Runs commands in their own process group and, where there is one, inside the sandbox. Whatever way a command ends, its
 * group is ended with it: TERM, a pause, KILL.
 */
export interface Processes {
  /** What would hold a command now; a `failure` when the sandbox is required and absent. */
  layer(network: boolean): SandboxLayer
  run(spec: CommandSpec, watch: CommandWatch): Promise<FinishedCommand>
  start(spec: CommandSpec, owner: CommandOwner): Promise<BackgroundCommand & { readonly sandbox: SandboxLayer }>
  /** What it printed since it was last asked, and how it stands; a `failure` for one that is not this owner's. */
  output(id: string, owner: CommandOwner): Promise<BackgroundCommand & CommandOutput>
  stop(id: string, owner: CommandOwner): Promise<BackgroundCommand>
  list(owner: CommandOwner): BackgroundCommand[]
  /** Ends what still runs, or is about to, of these agents, whatever its task. */
  endAll(isTheirs: (agentId: string) => boolean): Promise<void>
  /** Ends all that still run. */
  close(): Promise<void>
}
