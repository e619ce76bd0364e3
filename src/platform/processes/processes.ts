import { existsSync, mkdirSync } from "node:fs"
import { failure } from "../../core/ending.ts"
import type { Files } from "../files/file-access.ts"
import {
  defaultCommandLimits,
  type CommandLimits,
  type CommandSpec,
  type Processes,
  type SandboxLayer,
} from "./process-access.ts"
import { artifactLimit } from "../../core/tool.ts"
import { BackgroundCommands } from "./background.ts"
import {
  launchCommand,
  type CommandExit,
  type LaunchPlan,
  type OutputListener,
  type RunningCommand,
  type SandboxLaunchPlan,
} from "./launch-command.ts"
import { commandEnvironment, type CommandVariables } from "./environment.ts"
import { endOrphans, newProcessMark } from "./process-mark.ts"
import { PrivateFolder } from "./private-folder.ts"
import { endAfterTimeout, runToEnd } from "./foreground.ts"
import { detectKernelLimits } from "./kernel-limits.ts"
import { watchLimits } from "./limits.ts"
import { findSandbox, readablePaths, sandboxOptions, type Sandbox, type SandboxPlan } from "./sandbox.ts"
import { commandFolder, usableFolders } from "./command-folders.ts"
import {
  foldersToProtect,
  namesToProtect,
  makesRepository,
  secretsBelow,
  tooManyNames,
  type ProtectionContext,
} from "./protected-names.ts"
import { readProtectedPatterns } from "./protected-patterns.ts"
import { isWithin } from "./is-within.ts"
import { ProtectedMounts, type ProtectedPath } from "./protected-mounts.ts"
import { Spool } from "./spool.ts"

export interface ProcessesOptions {
  /** The file roots: a command's folder must be inside them. */
  readonly files: Files
  /** The folders and files a command may use; the workspace when left out. */
  readonly places?: readonly string[]
  /** *auto* uses the sandbox if it works here; *required* runs nothing without it. */
  readonly sandbox: "auto" | "required" | "off"
  /** `tools.protectedPaths`: patterns that no command in the sandbox may change. */
  readonly protectedPaths?: readonly string[]
  readonly home?: string
  /** Files that no command may change, besides those protected by their names. */
  readonly protectedFiles?: readonly ProtectedPath[]
  /** Files and folders that are absent in the sandbox: our own data, configuration and keys. */
  readonly hidden?: readonly string[]
  /** The trash in the data folder, created if missing and hidden: a command in a folder that gets deleted cannot see the rest of the trash. */
  readonly trashFolder?: string
  /** The variables this process was started with; a command gets few of them. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Finds the sandbox; called once, when it is first needed. */
  readonly findSandbox?: typeof findSandbox
  /** The limits of one command; the defaults for those left out. */
  readonly limits?: { readonly [Name in keyof CommandLimits]?: number }
  /** The time between TERM and KILL. */
  readonly graceMs?: number
  /** The most bytes to keep of a command's whole output. */
  readonly outputLimit?: number
}

const shells = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"]

/** Runs commands for tools. Does nothing before the first command. */
export function openProcesses(options: ProcessesOptions): Processes {
  const { files, graceMs = 2000, outputLimit = artifactLimit } = options
  const folder = new PrivateFolder()
  const protectedMounts = new ProtectedMounts()
  const background = new BackgroundCommands()
  const limits = limitsOf(options.limits)
  const watch = watchLimits(limits)
  const running = new Set<RunningCommand>()
  const protection = readProtectedPatterns(options.protectedPaths ?? [], {
    workspace: files.workspace,
    home: options.home,
  })
  let probed: ReturnType<typeof findSandbox> | undefined
  let isFirst = true
  let isClosed = false

  const sandbox = (): Sandbox | { because: string } => {
    if (options.sandbox === "off") return { because: "tools.shell.sandbox is off" }
    probed ??= (options.findSandbox ?? findSandbox)(folder)
    if ("program" in probed || options.sandbox === "auto") return probed
    throw failure(
      `Commands run only in the sandbox here (tools.shell.sandbox: required), and there is none: ${probed.because}. Ask a person to set it up (qm doctor says how).`,
      { toolCode: "sandbox_missing" },
    )
  }
  const layer = (network: boolean): SandboxLayer => {
    const found = sandbox()
    return "program" in found
      ? { kind: "bubblewrap", network }
      : { kind: "none", because: found.because, network: true }
  }

  const planSandbox = (
    found: Sandbox,
    spec: CommandSpec,
    cwd: string,
    environment: CommandVariables,
  ): SandboxLaunchPlan & { done(): void } => {
    const { network = false, unapproved = false, command } = spec
    const ours = commandEnvironment(options.environment, {}, { network })
    const { trashFolder } = options
    if (trashFolder !== undefined) mkdirSync(trashFolder, { recursive: true, mode: 0o700 })
    const hidden = [...(options.hidden ?? []), ...(trashFolder === undefined ? [] : [trashFolder])]
    const { writable, readable: readOnly } = usableFolders(spec, files, options.places)
    const folders = [...writable, ...readOnly]
    const readable = [...readablePaths(ours, network, [...hidden, ...folders]), ...readOnly]
    const context: ProtectionContext = { isProtected: protection.isProtected, unapproved, makesRepository: !unapproved && makesRepository(command) } // prettier-ignore
    const names = foldersToProtect(writable, cwd).map((folder) => namesToProtect(folder, context))
    const secrets = unapproved ? secretsBelow(folders) : []
    if (secrets === undefined && spec.mustBeSandboxed === true) throw sandboxMissing(tooManyNames)
    const mounts = protectedMounts.prepare(
      [
        ...names.flatMap(({ protectedPaths }) => protectedPaths),
        ...protection.paths(),
        ...(options.protectedFiles ?? []),
      ],
      [...new Set([...names.flatMap((found) => found.hidden), ...(secrets ?? []), ...hidden])],
      { writable, visible: [...writable, ...readable, "/usr"] },
    )
    const plan: SandboxPlan = { writable, cwd, network, readable, home: ours["HOME"], tmpMb: limits.tmpMb }
    return {
      found,
      options: sandboxOptions(plan, mounts.options, found.features),
      environment: { ...environment, TMPDIR: "/tmp" },
      expectedMounts: {
        folders,
        places: mounts.places.filter((path) => folders.some((folder) => isWithin(path, folder))),
      },
      done: mounts.done,
    }
  }

  const begin = async (spec: CommandSpec, onBytes: OutputListener): Promise<RunningCommand> => {
    if (isClosed) throw failure("Quartermaster is closing, so the command was not started.", { toolCode: "closing" })
    if (isFirst) endOrphans()
    isFirst = false
    const words = { shell: findShell(), script: checkedCommand(spec.command) }
    const environment = commandEnvironment(options.environment, spec.environment, spec)
    const cwd = commandFolder(spec, files)
    const found = sandbox()
    if (spec.mustBeSandboxed === true && !("program" in found)) throw sandboxMissing(found.because)
    const plan = "program" in found ? planSandbox(found, spec, cwd, environment) : undefined
    const detector = detectKernelLimits(onBytes, limits, plan !== undefined)
    const cleanUp = ({ exitCode }: CommandExit) => {
      plan?.done()
      const notice = detector.notice(exitCode)
      if (notice !== "") onBytes("stderr", Buffer.from(notice), notice)
    }
    try {
      const launch: LaunchPlan = {
        ...words,
        cwd,
        environment,
        mark: newProcessMark(),
        stdin: spec.stdin,
        sandbox: plan,
        graceMs,
        fileMb: limits.fileMb,
        watch,
      }
      const started = await launchCommand(launch, { folder, onBytes: detector.onBytes, cleanUp })
      running.add(started)
      watchExit(running)
      void started.ended.then(() => running.delete(started))
      return started
    } catch (error) {
      plan?.done()
      throw error
    }
  }

  return {
    layer,
    run: (spec, watch) =>
      runToEnd(spec, watch, {
        begin,
        layer,
        spool: () => new Spool({ limit: outputLimit, file: () => folder.newPath() }),
      }),
    async start(spec, owner) {
      const reserved = background.reserve(spec.command, owner)
      try {
        const started = await begin(spec, (stream, _bytes, text) => reserved.add(stream, text))
        endAfterTimeout(started, spec.timeoutMs)
        return { ...reserved.begin(started), sandbox: layer(spec.network ?? false) }
      } catch (error) {
        reserved.cancel()
        throw error
      }
    },
    output: async (id, owner) => background.output(id, owner),
    stop: (id, owner) => background.stop(id, owner),
    list: (owner) => background.list(owner),
    endAll: (isTheirs) => background.endAll(isTheirs),
    async close() {
      isClosed = true
      await background.endAll()
      await Promise.all([...running].map((command) => command.end()))
      openSets.delete(running)
      folder.remove()
    },
  }
}

const sandboxMissing = (because: string) =>
  failure(`This command was not approved by a person, so it may only run in the sandbox, and there is none: ${because}. Ask a person to approve the command or to set up the sandbox (qm doctor says how).`, { toolCode: "sandbox_missing" }) // prettier-ignore

const limitsOf = (limits: ProcessesOptions["limits"] = {}): CommandLimits => ({
  memoryMb: limits.memoryMb ?? defaultCommandLimits.memoryMb,
  fileMb: limits.fileMb ?? defaultCommandLimits.fileMb,
  processes: limits.processes ?? defaultCommandLimits.processes,
  tmpMb: limits.tmpMb ?? defaultCommandLimits.tmpMb,
})

function findShell(): string {
  const found = shells.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw failure("Commands need bash, and it is not installed here. Ask a person to install bash.", {
    toolCode: "no_shell",
  })
}

/** The longest single argument Linux allows, in bytes. */
const maxArgumentBytes = 128 * 1024 - 1

function checkedCommand(command: string): string {
  if (command.includes("\0"))
    throw failure("The command contains a NUL character. Leave it out.", { toolCode: "bad_command" })
  if (Buffer.byteLength(command) <= maxArgumentBytes) return command
  throw failure("The command is too long to start. Write it to a file and run that.", {
    toolCode: "command_too_long",
  })
}

const openSets = new Set<ReadonlySet<RunningCommand>>()
let watchesExit = false

/** Kills everything still running when this process exits, even without `close()`. */
function watchExit(running: ReadonlySet<RunningCommand>): void {
  if (!watchesExit) {
    watchesExit = true
    process.on("exit", () => {
      for (const commands of openSets) for (const command of commands) command.kill()
    })
  }
  openSets.add(running)
}
