import { spawn, type ChildProcess } from "node:child_process"
import { createRequire } from "node:module"
import type { Readable } from "node:stream"
import { failure } from "../../model/ending.ts"

export interface RipgrepRun {
  /** The folder it works in; what it prints is from there. */
  readonly cwd: string
  readonly signal: AbortSignal
  /** When it is ended, in milliseconds since the process began. */
  readonly until: number
  /** What it prints, in order and in pieces of any size; false ends it, because nothing more is needed. */
  onOutput(bytes: Buffer): boolean | void
  /** It prints little, in many small writes: what it prints is read seldom. */
  readonly isSparse?: boolean
}

export interface RipgrepEnd {
  readonly timedOut: boolean
  /** Some files could not be read. */
  readonly unreadable: boolean
}

/**
 * Runs ripgrep without a shell, a configuration or the caller's environment, and waits until it is gone. What it refuses,
 * such as a pattern it cannot read, is a `failure` with its own words. It stays in our session: on a busy machine Linux
 * gives a new one so little at first that a search takes twice as long.
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
  let said = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    if (said.length < longestError) said += text
  })
  const give = (bytes: Buffer) => {
    if (ending === undefined && run.onOutput(bytes) === false) end("enough")
  }
  const rest = run.isSparse === true ? readSeldom(child, give) : readAtOnce(child, give)
  const stop = () => {
    rest()
    end("late")
  }
  const timer = setTimeout(stop, Math.max(1, until - performance.now()))
  try {
    const code = await closed(child)
    rest()
    if (ending === "aborted") signal.throwIfAborted()
    const refused = said.trim()
    if (ending === undefined && code === 2 && refused !== "") throw refusedBy(refused)
    if (ending === undefined && code !== 0 && code !== 1 && code !== 2)
      throw refusedBy(refused || `it ended with ${code}`)
    return { timedOut: ending === "late", unreadable: code === 2 }
  } finally {
    clearTimeout(timer)
    signal.removeEventListener("abort", abort)
  }
}

const longestError = 4000
const largePiece = 64 * 1024
/** A read that brings less shows that little is printed, so that it can wait. */
const littleRead = 2048
const shortWaitMs = 1
const longWaitMs = 10

/** What Node reads a pipe with. Its stream goes on reading while it is paused, so only this can wait; without it nothing does. */
interface PipeHandle {
  readStart(): number
  readStop(): number
}

function readAtOnce(child: ChildProcess, give: (bytes: Buffer) => void): () => void {
  child.stdout!.on("data", give)
  return () => {}
}

/**
 * ripgrep writes once for each file and wakes us up each time, on a core that it needs itself: for a thousand files that
 * is a quarter of the search. So what it prints stays where it is for some milliseconds, and is given in large pieces.
 * Returns what gives the last one.
 */
function readSeldom(child: ChildProcess, give: (bytes: Buffer) => void): () => void {
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
    setTimeout(goOn, bytes.length < littleRead ? longWaitMs : shortWaitMs)
  })
  child.once("exit", () => {
    hasExited = true
    goOn()
  })
  return giveAll
}

/** Neither a configuration file nor links, nor what it would say about single files it cannot read. */
const always = ["--no-config", "--no-follow", "--no-messages", "--no-require-git", "--color=never"]

function refuseNul(options: readonly string[]): void {
  if (!options.some((option) => option.includes("\0"))) return
  throw failure("A pattern or path has a NUL byte in it, which no file name and no line has. Leave it out.", {
    toolCode: "bad_pattern",
  })
}

function refusedBy(words: string): Error {
  const text = words.replaceAll(/^rg: /gm, "").slice(0, longestError)
  return failure(`ripgrep refuses the search: ${text}\nCorrect it and search again.`, { toolCode: "bad_pattern" })
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

/** It starts no others; one that is gone already needs nothing. */
function kill({ pid }: ChildProcess): void {
  if (pid === undefined) return
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended by itself.
  }
}

let known: string | undefined

/** Where the program is: in the package for this platform, found as the package that chooses it would find it. */
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
