import { spawn, type ChildProcess } from "node:child_process"
import { closeSync } from "node:fs"
import { constants } from "node:os"
import type { Socket } from "node:net"
import { StringDecoder } from "node:string_decoder"
import { setTimeout as sleep } from "node:timers/promises"
import { failure, ToolFailure } from "../../core/ending.ts"
import type { ExceededLimit } from "./process-access.ts"
import { encodePath } from "../../lib/byte-names.ts"
import { endCommandGroup, killCommandGroup } from "./end-processes.ts"
import type { CommandVariables } from "./environment.ts"
import type { PrivateFolder } from "./private-folder.ts"
import { handshakeScript, answerHandshake, execCommandScript } from "./sandbox-handshake.ts"
import { inheritedDescriptors } from "./inherited-descriptors.ts"
import type { WatchGroup } from "./limits.ts"
import { groupOf, type CommandGroup } from "./process-table.ts"
import type { ExpectedMounts } from "./mounts.ts"
import { sandboxArguments, type Sandbox } from "./sandbox.ts"

/** Everything that is decided before a command starts. */
export interface LaunchPlan {
  readonly shell: string
  readonly script: string
  readonly cwd: string
  readonly environment: CommandVariables
  /** `NAME=value` in the environment of the command's processes and of no others, to find them by. */
  readonly mark: string
  readonly stdin?: string
  readonly sandbox?: SandboxLaunchPlan
  readonly graceMs: number
  /** The largest file the command may write. */
  readonly fileMb: number
  /** Watches the limits on memory and processes. */
  readonly watch: WatchGroup
}

export interface SandboxLaunchPlan {
  readonly found: Sandbox
  readonly options: readonly string[]
  /** Replaces `LaunchPlan.environment`. */
  readonly environment: CommandVariables
  readonly expectedMounts: ExpectedMounts
}

export interface CommandExit {
  /** 128 plus the signal's number if a signal ended it, as in a shell. */
  readonly exitCode: number
  readonly signal: string | null
  /** The number of its processes that were still running afterwards and had to be ended. */
  readonly leftovers: number
  /** The limit for which it was ended. */
  readonly exceeded?: ExceededLimit
}

export interface RunningCommand {
  /** Resolves when no process and no descriptor is left. Never rejects. */
  readonly ended: Promise<CommandExit>
  /** Sends TERM, and KILL after the grace period. Resolves when the command has ended. */
  end(): Promise<void>
  /** Sends KILL immediately, for a process that is about to exit. */
  kill(): void
}

export interface LaunchContext {
  readonly folder: PrivateFolder
  readonly onBytes: OutputListener
  /** Called when the whole command has ended, before `ended` resolves. */
  cleanUp(exit: CommandExit): void
}

export type OutputListener = (stream: "stdout" | "stderr", bytes: Uint8Array, text: string) => void

/** Time to wait for output while a leftover process may still have the pipe open. */
const drainMs = 500

/** Starts a command in a process group of its own and passes its output on as it comes. */
export async function launchCommand(
  plan: LaunchPlan,
  { folder, onBytes, cleanUp }: LaunchContext,
): Promise<RunningCommand> {
  const opened: number[] = []
  const readers: Reader[] = []
  const pipeFor = async (stream: "stdout" | "stderr") => {
    const { writer, reader } = await folder.pipe()
    opened.push(writer)
    readers.push(read(reader, stream, onBytes))
    return writer
  }
  try {
    const outputs = [await pipeFor("stdout"), await pipeFor("stderr")]
    const inputOf = (content: string | Uint8Array) => {
      opened.push(folder.readable(content))
      return opened.at(-1)!
    }
    const input: Stdio[number] = plan.stdin === undefined ? "ignore" : inputOf(plan.stdin)
    let child: ChildProcess
    if (plan.sandbox === undefined) child = spawnDirectly(plan, withoutInherited([input, ...outputs], inputOf))
    else {
      const { found, options, environment, expectedMounts } = plan.sandbox
      const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
      const stdio = [
        input,
        ...outputs,
        inputOf(found.filter),
        inputOf(nulTerminated(options)),
        "pipe" as const,
        inputOf(nulTerminated(variables)),
      ]
      child = spawnInSandbox(plan, found, withoutInherited(stdio, inputOf))
      answerHandshake(child, expectedMounts, (sentence) => onBytes("stderr", Buffer.from(sentence), sentence))
    }
    await started(child)
    const group = groupOf(child.pid!, plan.mark, plan.sandbox !== undefined)
    return follow(child, group, readers, { ...plan, cleanUp })
  } catch (error) {
    readers.forEach(({ stop }) => stop())
    throw startFailure(error)
  } finally {
    opened.forEach((descriptor) => closeSync(descriptor))
  }
}

const nulTerminated = (words: readonly string[]) =>
  Buffer.concat(words.flatMap((word) => [Buffer.from(encodePath(word)), nul]))
const nul = Buffer.from([0])

type Stdio = ("ignore" | "pipe" | number)[]

/** Replaces descriptors that this process inherited by an empty file, so that the command cannot use them. */
function withoutInherited(stdio: Stdio, inputOf: (content: string) => number): Stdio {
  inherited ??= inheritedDescriptors()
  const replaced = inherited.filter((descriptor) => descriptor >= stdio.length)
  if (replaced.length === 0) return stdio
  const empty = inputOf("")
  const all = [...stdio, ...Array<"ignore">(Math.max(...replaced) + 1 - stdio.length).fill("ignore")]
  return all.map((entry, descriptor) => (replaced.includes(descriptor) ? empty : entry))
}

let inherited: readonly number[] | undefined

function spawnDirectly(plan: LaunchPlan, stdio: Stdio): ChildProcess {
  const { shell, cwd, environment, mark } = plan
  const env = { ...environment, ...variableOf(mark) }
  return spawn(shell, shellWords(plan, `${setLimits(plan)} exec "$0" --norc -c "$1"`), {
    detached: true,
    stdio,
    cwd,
    env,
  })
}

/** Bubblewrap itself runs outside the sandbox, so it gets none of the call's variables. */
function spawnInSandbox(plan: LaunchPlan, { program }: Sandbox, stdio: Stdio): ChildProcess {
  const words = [
    ...sandboxArguments,
    plan.shell,
    ...shellWords(plan, `${handshakeScript} ${setLimits(plan)} ${execCommandScript}`),
  ]
  return spawn(program, words, { detached: true, stdio, cwd: "/", env: variableOf(plan.mark) })
}

/** A shell that runs `first`, then becomes the command's shell. `-p` keeps it from reading files named in variables. */
const shellWords = ({ shell, script }: LaunchPlan, first: string) => ["--norc", "-p", "-c", first, shell, script]

/** A lower limit that is already set stays. */
const setLimits = ({ fileMb }: LaunchPlan) => `ulimit -c 0 2>/dev/null; ulimit -f ${fileMb * 1024} 2>/dev/null;`

interface Reader {
  readonly ended: Promise<void>
  stop(): void
}

function follow(
  child: ChildProcess,
  group: CommandGroup,
  readers: readonly Reader[],
  { graceMs, watch, cleanUp }: LaunchPlan & Pick<LaunchContext, "cleanUp">,
): RunningCommand {
  let ending: Promise<number> | undefined
  let exceeded: ExceededLimit | undefined
  let isUrgent = false
  const end = () => (ending ??= endCommandGroup(group, graceMs, () => isUrgent))
  // A command still above a limit at the next look is killed without waiting for the grace period.
  const unwatch = watch(group, (found) => {
    if (ending !== undefined) return void (isUrgent = true)
    exceeded = found
    void end()
  })
  const exited = new Promise<{ code: number | null; signal: NodeJS.Signals | null }>((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null)
      resolve({ code: child.exitCode, signal: child.signalCode })
    else child.once("exit", (code, signal) => resolve({ code, signal }))
  })
  const ended = (async (): Promise<CommandExit> => {
    const { code, signal } = await exited
    const drained = Promise.all(readers.map(({ ended }) => ended))
    await within(drained, drainMs)
    const endedItself = ending === undefined
    const count = await end()
    const leftovers = endedItself ? count : 0
    unwatch()
    // Output of the ending leftovers is in the pipe by now.
    await within(drained, leftovers > 0 ? drainMs : 50)
    readers.forEach(({ stop }) => stop())
    const exit = { exitCode: code ?? 128 + (constants.signals[signal!] ?? 0), signal, leftovers, exceeded }
    cleanUp(exit)
    return exit
  })()
  return {
    ended,
    end: async () => {
      void end()
      await ended
    },
    kill: () => killCommandGroup(group),
  }
}

/** More than is kept of any output. */
const fastBytes = 128 * 1024 * 1024

function read(socket: Socket, stream: "stdout" | "stderr", onBytes: OutputListener): Reader {
  const decoder = new StringDecoder("utf8")
  let isOver = false
  let settle!: () => void
  const ended = new Promise<void>((resolve) => (settle = resolve))
  const finish = () => {
    if (isOver) return
    isOver = true
    const rest = decoder.end()
    if (rest !== "") onBytes(stream, new Uint8Array(), rest)
    settle()
  }
  let total = 0
  socket.on("data", (bytes: Buffer) => {
    if (isOver) return
    onBytes(stream, bytes, decoder.write(bytes))
    total += bytes.length
    if (total < fastBytes) return
    // Endless output is read slowly: otherwise memory fills faster than it is freed.
    socket.pause()
    setTimeout(() => socket.resume(), 5)
  })
  socket.once("end", finish)
  socket.once("error", finish)
  socket.once("close", finish)
  return {
    ended,
    stop: () => {
      finish()
      socket.destroy()
    },
  }
}

function started(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once("spawn", resolve)
    child.once("error", reject)
  })
}

function startFailure(error: unknown): Error {
  if (error instanceof ToolFailure) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "E2BIG") {
    return failure("The command with its variables is too long to start. Write it to a file and run that.", {
      toolCode: "command_too_long",
    })
  }
  return failure(`The command could not be started: ${message}.`, { toolCode: "not_started", cause: error })
}

function variableOf(mark: string): Record<string, string> {
  const [name = "", value = ""] = mark.split("=")
  return { [name]: value }
}

async function within(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const finished = new AbortController()
  await Promise.race([promise, sleep(milliseconds, undefined, { signal: finished.signal }).catch(() => {})])
  finished.abort()
}
