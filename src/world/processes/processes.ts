import { existsSync } from "node:fs"
import { failure } from "../../model/ending.ts"
import type { Files, TrashLimits } from "../../model/files.ts"
import {
  usualLimits,
  type CommandLimits,
  type CommandSpec,
  type Processes,
  type SandboxLayer,
} from "../../model/processes.ts"
import { artifactLimit } from "../../model/tool.ts"
import { Background } from "./background.ts"
import { launch, type Exit, type OnBytes, type Running } from "./command.ts"
import { commandEnvironment, type Environment } from "./environment.ts"
import { endOrphans, newMark } from "./mark.ts"
import { PrivateFolder } from "./folder.ts"
import { endInTime, runToEnd } from "./foreground.ts"
import { listenForLimits } from "./kernel-limits.ts"
import { watchLimits } from "./limits.ts"
import { findSandbox, readablePlaces, sandboxWords, type Sandbox } from "./sandbox.ts"
import { foldersNamed, listNames, newcomers, type Listing } from "./listing.ts"
import { isHarmlessRepository, makesRepository } from "./new-repository.ts"
import { folderOf, writableFolders } from "./places.ts"
import { readProtection } from "./protected.ts"
import { takeAway, tooMuchMade } from "./take-away.ts"
import { sealsBelow, sealsByName } from "./sealed-names.ts"
import { isWithin, Seals, type Seal } from "./seals.ts"
import { Spool } from "./spool.ts"

export interface ProcessesOptions {
  /** The fence: a command's folder must be inside. */
  readonly files: Files
  /** Further folders a command may write in, real paths. */
  readonly roots?: readonly string[] | undefined
  /** *auto* uses the sandbox where it works, *required* runs nothing without it. */
  readonly sandbox: "auto" | "required" | "off"
  /** Has the trash, where things go that no command may make. */
  readonly dataFolder: string
  /** How long what is in the trash is kept, where it is not what is usual. */
  readonly trash?: TrashLimits | undefined
  /** `tools.protectedPaths`: what no command may change or make. */
  readonly protectedPaths?: readonly string[] | undefined
  readonly home?: string | undefined
  /** What no command may change, also when it is not there yet; besides what is sealed by its name. */
  readonly sealed?: readonly Seal[] | undefined
  /** Files and folders that are not there in the sandbox: our own data, configuration and keys. */
  readonly hidden?: readonly string[] | undefined
  /** What the house was started with; a command gets little of it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Looks for the sandbox; once, when it is first needed. */
  readonly findSandbox?: typeof findSandbox | undefined
  /** What one command may use up, where it is not what is usual. */
  readonly limits?: { readonly [Name in keyof CommandLimits]?: number | undefined } | undefined
  /** Between TERM and KILL. */
  readonly graceMs?: number | undefined
  /** Bytes of the whole output that are kept at most. */
  readonly wholeLimit?: number | undefined
}

const shells = ["/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"]

/** Runs commands for tools. Nothing is started, looked for or made before the first one. */
export function openProcesses(options: ProcessesOptions): Processes {
  const { files, graceMs = 2000, wholeLimit = artifactLimit } = options
  const folder = new PrivateFolder()
  const seals = new Seals()
  const background = new Background()
  const limits = limitsOf(options.limits)
  const watch = watchLimits(limits)
  const running = new Set<Running>()
  const protection = readProtection(options.protectedPaths ?? [], { workspace: files.workspace, home: options.home })
  const leftOut = new Set(options.hidden)
  const sealedPaths = new Set(options.sealed?.map(({ path }) => path.replace(/\/$/, "")))
  let probed: ReturnType<typeof findSandbox> | undefined
  let isFirst = true
  let isClosed = false

  const sandbox = (): Sandbox | { because: string } => {
    if (options.sandbox === "off") return { because: "tools.shell.sandbox is off" }
    probed ??= (options.findSandbox ?? findSandbox)(folder)
    if ("program" in probed || options.sandbox === "auto") return probed
    throw failure(
      `Commands run only in the sandbox here (tools.shell.sandbox: required), and there is none: ${probed.because}.`,
      { toolCode: "sandbox_missing" },
    )
  }
  const layer = (network: boolean): SandboxLayer => {
    const found = sandbox()
    return "program" in found
      ? { kind: "bubblewrap", network }
      : { kind: "none", because: found.because, network: true }
  }

  const look = ({ command }: CommandSpec, cwd: string, roots: readonly string[], before?: Listing): Listing => {
    const isLeftOut = (path: string) => leftOut.has(path) || seals.isPlaced(path)
    const named = foldersNamed(command, cwd, roots).filter((path) => !(options.hidden ?? []).some((one) => isWithin(path, one))) // prettier-ignore
    const isProtected = (path: string, isFolder: boolean) =>
      sealedPaths.has(path) || protection.isProtected(path, isFolder)
    return listNames({ roots, named, isLeftOut, isProtected }, before)
  }

  const held = (
    found: Sandbox,
    spec: CommandSpec,
    { cwd, environment, writable, seen }: { cwd: string; environment: Environment; writable: string[]; seen: Listing },
  ) => {
    const { network = false } = spec
    const ours = commandEnvironment(options.environment, {}, network)
    const { hidden = [] } = options
    // What is in a writable folder is seen with it.
    const readable = readablePlaces(ours, network, [...hidden, ...writable])
    const mayMake = makesRepository(spec.command)
    const named = [...writable.map((root) => sealsByName(root, seen, mayMake)), sealsBelow(writable, seen)]
    const { words, places, done } = seals.words(
      [...named.flatMap((one) => one.seals), ...protection.seals(seen.isWhole), ...(options.sealed ?? [])],
      [...named.flatMap((one) => one.hidden), ...hidden],
      { writable, visible: [...writable, ...readable, "/usr"] },
    )
    const plan = { writable, cwd, network, readable, home: ours["HOME"], tmpMb: limits.tmpMb }
    const held = places.filter((path) => writable.some((folder) => isWithin(path, folder)))
    return {
      found,
      words: sandboxWords(plan, words, found.extra),
      environment: { ...environment, TMPDIR: "/tmp" },
      meant: { writable, places: held },
      done,
    }
  }

  const begin = async (spec: CommandSpec, onBytes: OnBytes): Promise<Running> => {
    if (isClosed) throw failure("The house is closing, so no command is started.", { toolCode: "closing" })
    if (isFirst) endOrphans()
    isFirst = false
    const words = { shell: findShell(), script: wholeCommand(spec.command) }
    const environment = commandEnvironment(options.environment, spec.environment, spec.network)
    const cwd = folderOf(spec, files)
    const found = sandbox()
    const writable = writableFolders(spec, files, options.roots)
    const seen = look(spec, cwd, writable)
    const inside = "program" in found ? held(found, spec, { cwd, environment, writable, seen }) : undefined
    const ear = listenForLimits(onBytes, limits, inside !== undefined)
    try {
      const about = { mark: newMark(), stdin: spec.stdin, sandbox: inside, graceMs, fileMb: limits.fileMb, watch }
      const tidy = async ({ exitCode }: Exit) => {
        inside?.done()
        const after = look(spec, cwd, writable, seen)
        const made = newcomers(seen, after)
        const { dataFolder, trash } = options
        const place = { dataFolder, trash, workspace: files.workspace, roots: writable, agentId: spec.agentId, links: seen.links } // prettier-ignore
        const isTaken = (path: string) =>
          sealedPaths.has(path) || protection.isProtected(path, true) || !isHarmlessRepository(path, spec.command)
        const { paths, notice } = await takeAway(made.filter(isTaken), place)
        const said = ear.notice(exitCode) + notice + (after.isWhole ? "" : tooMuchMade)
        if (said !== "") onBytes("stderr", Buffer.from(said), said)
        return paths
      }
      const started = tidied(await launch({ ...words, cwd, environment, ...about }, folder, ear.onBytes), tidy)
      running.add(started)
      watchExit(running)
      void started.over.then(() => running.delete(started))
      return started
    } catch (error) {
      inside?.done()
      throw error
    }
  }

  return {
    layer,
    run: (spec, watch) =>
      runToEnd(spec, watch, { begin, layer, spool: () => new Spool({ limit: wholeLimit, file: () => folder.name() }) }),
    async start(spec, owner) {
      const place = background.reserve(spec.command, owner)
      try {
        const started = await begin(spec, (stream, _bytes, text) => place.add(stream, text))
        endInTime(started, spec.timeoutMs)
        return { ...place.begin(started), sandbox: layer(spec.network ?? false) }
      } catch (error) {
        place.cancel()
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
      await Promise.all([...running].map((one) => one.end()))
      houses.delete(running)
      folder.remove()
    },
  }
}

/** It is over only when what it left has been looked at. */
function tidied(started: Running, tidy: (exit: Exit) => Promise<readonly string[]>): Running {
  const over = started.over.then(async (exit) => ({ ...exit, sealed: await tidy(exit) }))
  return {
    ...started,
    over,
    end: async () => {
      await started.end()
      await over
    },
  }
}

const limitsOf = (given: ProcessesOptions["limits"] = {}): CommandLimits => ({
  memoryMb: given.memoryMb ?? usualLimits.memoryMb,
  fileMb: given.fileMb ?? usualLimits.fileMb,
  processes: given.processes ?? usualLimits.processes,
  tmpMb: given.tmpMb ?? usualLimits.tmpMb,
})

function findShell(): string {
  const found = shells.find((path) => existsSync(path))
  if (found !== undefined) return found
  throw failure("There is no bash here, and commands are run by it. Install bash.", { toolCode: "no_shell" })
}

/** The longest single word a program can be started with, in bytes. */
const longestWord = 128 * 1024 - 1

function wholeCommand(command: string): string {
  if (command.includes("\0")) throw failure("The command has a NUL in it. Leave it out.", { toolCode: "bad_command" })
  if (Buffer.byteLength(command) <= longestWord) return command
  throw failure("The command is too long to be started. Write it to a file and run that.", {
    toolCode: "command_too_long",
  })
}

const houses = new Set<ReadonlySet<Running>>()
let watchesExit = false

/** Nothing we started outlives us, even when nobody closed it. */
function watchExit(running: ReadonlySet<Running>): void {
  if (!watchesExit) {
    watchesExit = true
    process.on("exit", () => {
      for (const house of houses) for (const one of house) one.kill()
    })
  }
  houses.add(running)
}
