import { spawn, type ChildProcess } from "node:child_process"
import { closeSync } from "node:fs"
import { constants } from "node:os"
import type { Socket } from "node:net"
import { StringDecoder } from "node:string_decoder"
import { setTimeout as sleep } from "node:timers/promises"
import { failure, ToolFailure } from "../../model/ending.ts"
import type { ExceededLimit } from "../../model/processes.ts"
import { onDisk } from "./byte-names.ts"
import { endGroup, killGroup } from "./ending.ts"
import type { Environment } from "./environment.ts"
import type { PrivateFolder } from "./folder.ts"
import { askFirst, answerOnce, becomeCommand } from "./hand-shake.ts"
import { inheritedDescriptors } from "./inherited.ts"
import type { Watch } from "./limits.ts"
import { groupOf, type Group } from "./members.ts"
import type { MeantMounts } from "./mounts.ts"
import { sandboxArguments, type Sandbox } from "./sandbox.ts"

/** Everything that is decided before a command is started. */
export interface Launch {
  readonly shell: string
  readonly script: string
  readonly cwd: string
  readonly environment: Environment
  /** In every one of its processes' environments, and in no other's: `NAME=value`. */
  readonly mark: string
  readonly stdin?: string | undefined
  readonly sandbox?: SandboxLaunch | undefined
  readonly graceMs: number
  /** The largest file it may write. */
  readonly fileMb: number
  /** Looks after what it uses. */
  readonly watch: Watch
}

export interface SandboxLaunch {
  readonly found: Sandbox
  readonly words: readonly string[]
  /** The command's, in place of the other. */
  readonly environment: Environment
  readonly meant: MeantMounts
}

export interface Exit {
  /** 128 and the signal's number where a signal ended it, as a shell says it. */
  readonly exitCode: number
  readonly signal: string | null
  /** How many of its processes were still there afterwards, and were ended. */
  readonly leftovers: number
  /** Of what it used too much, where it was ended for it. */
  readonly exceeded?: ExceededLimit | undefined
  /** What it made that no command may make, from the workspace. */
  readonly sealed?: readonly string[] | undefined
}

/** A command that runs. */
export interface Running {
  /** Resolves when nothing of it is left: no process, no descriptor. Never rejects. */
  readonly over: Promise<Exit>
  /** TERM, the grace, KILL. Resolves when it is over. */
  end(): Promise<void>
  /** KILL now, for a house that is about to end. */
  kill(): void
}

export type OnBytes = (stream: "stdout" | "stderr", bytes: Uint8Array, text: string) => void

/** How long output is waited for that a process left behind may still hold the pipe of. */
const drainMs = 500

/** Starts a command in a group of its own. What it prints is handed over as it comes. */
export async function launch(plan: Launch, folder: PrivateFolder, onBytes: OnBytes): Promise<Running> {
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
    const hand = (content: string | Uint8Array) => {
      opened.push(folder.readable(content))
      return opened.at(-1)!
    }
    const input: Stdio[number] = plan.stdin === undefined ? "ignore" : hand(plan.stdin)
    let child: ChildProcess
    if (plan.sandbox === undefined) child = spawnAlone(plan, covered([input, ...outputs], hand))
    else {
      const { found, words, environment, meant } = plan.sandbox
      const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
      const handed = [
        input,
        ...outputs,
        hand(found.filter),
        hand(listed(words)),
        "pipe" as const,
        hand(listed(variables)),
      ]
      child = spawnInSandbox(plan, found, covered(handed, hand))
      answerOnce(child, meant, (sentence) => onBytes("stderr", Buffer.from(sentence), sentence))
    }
    await started(child)
    const group = groupOf(child.pid!, plan.mark, plan.sandbox !== undefined)
    return follow(child, group, readers, plan)
  } catch (error) {
    readers.forEach(({ stop }) => stop())
    throw notStarted(error)
  } finally {
    opened.forEach((descriptor) => closeSync(descriptor))
  }
}

const listed = (words: readonly string[]) => Buffer.concat(words.flatMap((word) => [Buffer.from(onDisk(word)), nul]))
const nul = Buffer.from([0])

type Stdio = ("ignore" | "pipe" | number)[]

/** What we were started with, and what is not handed over, is an empty file to the command. */
function covered(handed: Stdio, hand: (content: string) => number): Stdio {
  inherited ??= inheritedDescriptors()
  const others = inherited.filter((descriptor) => descriptor >= handed.length)
  if (others.length === 0) return handed
  const empty = hand("")
  const all = [...handed, ...Array<"ignore">(Math.max(...others) + 1 - handed.length).fill("ignore")]
  return all.map((one, descriptor) => (others.includes(descriptor) ? empty : one))
}

let inherited: readonly number[] | undefined

function spawnAlone(plan: Launch, stdio: Stdio): ChildProcess {
  const { shell, cwd, environment, mark } = plan
  const env = { ...environment, ...named(mark) }
  return spawn(shell, shellWords(plan, `${limited(plan)} exec "$0" --norc -c "$1"`), {
    detached: true,
    stdio,
    cwd,
    env,
  })
}

/** Bubblewrap itself stands outside, so nothing that was given with the call may change what it does. */
function spawnInSandbox(plan: Launch, { program }: Sandbox, stdio: Stdio): ChildProcess {
  const words = [...sandboxArguments, plan.shell, ...shellWords(plan, `${askFirst} ${limited(plan)} ${becomeCommand}`)]
  return spawn(program, words, { detached: true, stdio, cwd: "/", env: named(plan.mark) })
}

/** A shell that does something first and becomes the command's own; `-p` keeps it from reading files that variables name. */
const shellWords = ({ shell, script }: Launch, first: string) => ["--norc", "-p", "-c", first, shell, script]

/** Where less is allowed already, that stays. */
const limited = ({ fileMb }: Launch) => `ulimit -c 0 2>/dev/null; ulimit -f ${fileMb * 1024} 2>/dev/null;`

interface Reader {
  readonly ended: Promise<void>
  stop(): void
}

function follow(child: ChildProcess, group: Group, readers: readonly Reader[], { graceMs, watch }: Launch): Running {
  let ending: Promise<number> | undefined
  let exceeded: ExceededLimit | undefined
  let isUrgent = false
  const end = () => (ending ??= endGroup(group, graceMs, () => isUrgent))
  // Who still uses too much when it is looked at again has no time left to say goodbye.
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
  const over = (async (): Promise<Exit> => {
    const { code, signal } = await exited
    const drained = Promise.all(readers.map(({ ended }) => ended))
    await within(drained, drainMs)
    const isLeft = ending === undefined
    const found = await end()
    const leftovers = isLeft ? found : 0
    unwatch()
    // What those printed on their way out is in the pipe by now.
    await within(drained, leftovers > 0 ? drainMs : 50)
    readers.forEach(({ stop }) => stop())
    return { exitCode: code ?? 128 + (constants.signals[signal!] ?? 0), signal, leftovers, exceeded }
  })()
  return {
    over,
    end: async () => {
      void end()
      await over
    },
    kill: () => killGroup(group),
  }
}

/** More than is kept of any output. */
const easyBytes = 128 * 1024 * 1024

function read(socket: Socket, stream: "stdout" | "stderr", onBytes: OnBytes): Reader {
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
    if (total < easyBytes) return
    // Who prints for ever is read slowly: else what was read is thrown away later than the next is there.
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

function notStarted(error: unknown): Error {
  if (error instanceof ToolFailure) return error
  const { code, message } = error as NodeJS.ErrnoException
  if (code === "E2BIG") {
    return failure("The command with its variables is too long to be started. Write it to a file and run that.", {
      toolCode: "command_too_long",
    })
  }
  return failure(`The command could not be started: ${message}.`, { toolCode: "not_started", cause: error })
}

function named(mark: string): Record<string, string> {
  const [name = "", value = ""] = mark.split("=")
  return { [name]: value }
}

async function within(promise: Promise<unknown>, milliseconds: number): Promise<void> {
  const over = new AbortController()
  await Promise.race([promise, sleep(milliseconds, undefined, { signal: over.signal }).catch(() => {})])
  over.abort()
}
