import { spawn, type ChildProcess } from "node:child_process"
import { createRequire } from "node:module"
import type { Readable } from "node:stream"
import { failure } from "../../core/ending.ts"

export interface RipgrepRun {
  /** The folder it runs in; printed paths are relative to it. */
  readonly cwd: string
  readonly signal: AbortSignal
  /** The time to end it, as a value of `performance.now()`. */
  readonly until: number
  /** Called with its output in order. Returning false ends it. */
  onOutput(bytes: Buffer): boolean | void
  /** It prints little in many small writes, so its output is read in larger intervals. */
  readonly isSparse?: boolean
}

export interface RipgrepEnd {
  readonly timedOut: boolean
  /** Some files could not be read. */
  readonly unreadable: boolean
}

/**
 * Runs ripgrep without a shell, a configuration or the caller's environment, and waits until it has ended. If it rejects
 * the search, for example for a bad pattern, throws a `failure` with its message. It is not detached: on a busy machine
 * Linux gives a new session so little time at first that a search takes twice as long.
 */
export async function runRipgrep(options: readonly string[], run: RipgrepRun): Promise<RipgrepEnd> {
  const { cwd, signal, until } = run
  signal.throwIfAborted()
  refuseNul(options)
  const child = spawn(ripgrepPath(), [...always, ...options], {
    cwd,
    stdio: ["ignore", "pipe", "pipe"],
    env: process.platform === "win32" ? { SystemRoot: process.env["SystemRoot"] } : {},
    windowsHide: true,
  })
  let ending: "aborted" | "late" | "enough" | undefined
  const end = (why: typeof ending) => {
    ending ??= why
    kill(child)
  }
  const abort = () => end("aborted")
  signal.addEventListener("abort", abort, { once: true })
  let errors = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (errors.length < maxErrorLength) errors += text
  })
  const give = (bytes: Buffer) => {
    if (ending === undefined && run.onOutput(bytes) === false) end("enough")
  }
  const flush = run.isSparse === true ? readSparsely(child, give) : readImmediately(child, give)
  const stop = () => {
    flush()
    end("late")
  }
  const timer = setTimeout(stop, Math.max(1, until - performance.now()))
  try {
    const code = await closed(child)
    flush()
    if (ending === "aborted") signal.throwIfAborted()
    const message = errors.trim()
    if (ending === undefined && code === 2 && message !== "") throw rejected(message)
    if (ending === undefined && code !== 0 && code !== 1 && code !== 2)
      throw rejected(message || `it ended with ${code}`)
    return { timedOut: ending === "late", unreadable: code === 2 }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", abort)
  }
}

const maxErrorLength = 4000
const largePiece = 64 * 1024
/** After a smaller read the next one waits longer. */
const smallRead = 2048
const shortWaitMs = 1
const longWaitMs = 10

/** Node's internal pipe handle. A paused stream still reads ahead, so only this can delay reading. Optional. */
interface PipeHandle {
  readStart(): number
  readStop(): number
}

function readImmediately(child: ChildProcess, give: (bytes: Buffer) => void): () => void {
  child.stdout!.on("data", give)
  return () => {}
}

/**
 * ripgrep writes once per file, and each write would wake this process on a core that ripgrep needs: for a thousand files
 * that costs a quarter of the search. So the output stays in the pipe for some milliseconds and is passed on in large
 * pieces. Returns a function that passes on the last piece.
 */
function readSparsely(child: ChildProcess, give: (bytes: Buffer) => void): () => void {
  const output = child.stdout as Readable & { readonly _handle?: PipeHandle | null }
  let pieces: Buffer[] = []
  let length = 0
  let hasExited = false
  const giveAll = () => {
    const bytes = Buffer.concat(pieces, length)
    pieces = []
    length = 0
    give(bytes)
  }
  const goOn = () => output._handle?.readStart()
  output.on("data", (bytes: Buffer) => {
    pieces.push(bytes)
    length += bytes.length
    if (length >= largePiece) giveAll()
    if (hasExited || bytes.length >= largePiece) return
    output._handle?.readStop()
    setTimeout(goOn, bytes.length < smallRead ? longWaitMs : shortWaitMs)
  })
  child.once("exit", () => {
    hasExited = true
    goOn()
  })
  return giveAll
}

/** No configuration file, no links, no messages about single unreadable files. */
const always = ["--no-config", "--no-follow", "--no-messages", "--no-require-git", "--color=never"]

function refuseNul(options: readonly string[]): void {
  if (!options.some((option) => option.includes("\0"))) return
  throw failure("A pattern or path contains a NUL byte, which no file name and no line has. Leave it out.", {
    toolCode: "bad_pattern",
  })
}

function rejected(message: string): Error {
  const text = message.replaceAll(/^rg: /gm, "").slice(0, maxErrorLength)
  return failure(`ripgrep rejected the search: ${text}\nCorrect it and search again.`, { toolCode: "bad_pattern" })
}

function closed(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("close", resolve)
    child.once("error", (error: NodeJS.ErrnoException) => {
      const gone = error.code === "ENOENT" ? "the folder or the program is not there" : error.message
      reject(failure(`ripgrep could not be started: ${gone}. Try again, or read single files.`, { cause: error }))
    })
  })
}

function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has already ended.
  }
}

let known: string | undefined

/** The path of ripgrep, in the package for this platform. */
function ripgrepPath(): string {
  if (known !== undefined) return known
  const name = process.platform === "win32" ? "rg.exe" : "rg"
  try {
    const chooser = createRequire(import.meta.url).resolve("@vscode/ripgrep")
    return (known = createRequire(chooser).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${name}`))
  } catch (error) {
    throw failure(
      `Searching needs ripgrep, and its package for ${process.platform}-${process.arch} is not installed. Install again without leaving out optional dependencies.`,
      { toolCode: "not_installed", cause: error },
    )
  }
}
