import type { ChildProcess } from "node:child_process"
import { existsSync } from "node:fs"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio"
import { isJsonTooDeep } from "../lib/json-depth.ts"
import type { McpServerSpec } from "../core/mcp.ts"
import { MessageRateLimiter, replaceDeepMessage } from "./message-rate.ts"
import { withResultType } from "./result-type.ts"
import { clientLimits } from "./limits.ts"
import { LineSplitter } from "./line-splitter.ts"
import { serverProcessCount, endServerProcess, startServerProcess } from "./process-group.ts"

/** Time for which we read output after the process has ended. */
const drainMs = 200
const maxStderrLines = 20
const maxStderrCharacters = 400

/**
 * The transport to a child process. Unlike the SDK's it has its own process group, probes the protocol in the same
 * process instead of a second one, and limits what it reads.
 */
export class StdioTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: Transport["onmessage"]
  /** The SDK recognizes a child process by `pid` and `stderr`. */
  readonly stderr = null
  readonly #spec: McpServerSpec
  readonly #cwd: string
  readonly #lines = new LineSplitter(clientLimits.messageBytes)
  readonly #limiter: MessageRateLimiter
  readonly #stderrLines: string[] = []
  #child: ChildProcess | undefined
  #previousDelivery: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #ended: Promise<void> | undefined
  #closed = false
  #end: string | undefined
  #strayLine: string | undefined

  constructor(spec: McpServerSpec, cwd: string, onFlood: () => void) {
    this.#spec = spec
    this.#cwd = cwd
    this.#limiter = new MessageRateLimiter(onFlood)
  }

  get pid(): number | undefined {
    return this.#closed ? undefined : this.#child?.pid
  }

  /** True if the process was started, even if it has ended. */
  get wasStarted(): boolean {
    return this.#child?.pid !== undefined
  }

  /** The reason of its end, as the end of a sentence; undefined while it runs. */
  get end(): string | undefined {
    return this.#end
  }

  /** Its output besides messages, for people: a line on stdout, where it does harm, and its last lines on stderr. */
  get printed(): string {
    const stray = this.#strayLine
    const lines = [
      ...(stray === undefined
        ? []
        : [`It printed "${stray}" on stdout, where only JSON-RPC messages belong. ${whatToDo}`]),
      ...(this.#stderrLines.length === 0 ? [] : ["Its last output was:", ...this.#stderrLines]),
    ]
    return lines.join("\n")
  }

  start(): Promise<void> {
    const problem = startProblem(this.#cwd)
    if (problem !== undefined) {
      this.#end = `was not started, because ${problem}`
      return Promise.reject(new Error(this.#end))
    }
    const child = startServerProcess({
      command: this.#spec.command!,
      args: this.#spec.args ?? [],
      env: { ...getDefaultEnvironment(), ...this.#spec.env, QM_INSIDE: "1" },
      cwd: this.#cwd,
    })
    this.#child = child
    child.stdout!.on("data", (chunk: Buffer) => this.#read(chunk))
    child.stderr!.on("data", (chunk: Buffer) => this.#readStderr(chunk))
    for (const stream of [child.stdin!, child.stdout!, child.stderr!]) stream.on("error", () => {})
    child.once("exit", (code, signal) => {
      this.#end ??= signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`
      const drainTimer = setTimeout(() => this.#finish(), drainMs)
      child.once("close", () => {
        clearTimeout(drainTimer)
        this.#finish()
      })
    })
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve)
      child.once("error", (error: NodeJS.ErrnoException) => {
        this.#end ??= startFailure(this.#spec.command!, error)
        reject(new Error(this.#end))
        this.#finish()
      })
    })
  }

  /** Messages sent in one turn of the event loop are written together, because waking the server is expensive. */
  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => this.#afterEnd(() => reject(error))
      const input = this.#child?.stdin
      if (input === undefined || input === null || !input.writable) return fail(new Error("is not connected"))
      if (input.writableCorked === 0) {
        input.cork()
        setImmediate(() => input.uncork())
      }
      input.write(JSON.stringify(message) + "\n", (error) => (error ? fail(error) : resolve()))
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#terminate()
    return this.#closing
  }

  /** A write can fail before the exit event comes; this waits for it, so that the reason is known. */
  #afterEnd(act: () => void): void {
    const child = this.#child
    if (child === undefined || this.#closed) return act()
    this.#ended ??= new Promise((resolve) => {
      child.once("close", () => resolve())
      setTimeout(() => setImmediate(resolve), drainMs)
    })
    void this.#ended.then(act)
  }

  async #terminate(): Promise<void> {
    this.#end ??= "was closed"
    if (this.#child !== undefined) await endServerProcess(this.#child)
    this.#finish()
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return
    try {
      for (const line of this.#lines.split(chunk)) this.#deliver(line)
    } catch (error) {
      this.#end ??= (error as Error).message
      this.#child!.stdout!.destroy()
      this.#finish()
      void this.close()
      return
    }
    const pause = this.#limiter.pauseMs()
    if (pause <= 0) return
    this.#child!.stdout!.pause()
    setTimeout(() => this.#child!.stdout!.resume(), pause)
  }

  /**
   * Lines that are not messages are ignored; the first is told if the connection fails. The SDK handles notifications later than responses, so each message waits
   * for those before it: otherwise a response would overtake its own progress.
   */
  #deliver(line: string): void {
    const found = messageIn(line)
    if (found === undefined) this.#strayLine ??= plainLine(line)
    const message =
      found !== undefined && isJsonTooDeep(line, clientLimits.nestingLevels) ? replaceDeepMessage(found) : found
    if (message === undefined || !this.#limiter.accepts(message)) return
    if (this.#previousDelivery === undefined && !("method" in message)) return this.#emit(message)
    const turn: Promise<void> = (this.#previousDelivery ?? Promise.resolve()).then(() => {
      if (this.#previousDelivery === turn) this.#previousDelivery = undefined
      this.#emit(message)
    })
    this.#previousDelivery = turn
  }

  #emit(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(withResultType(message))
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #readStderr(chunk: Buffer): void {
    const lines = chunk.toString("utf8").split("\n")
    for (const line of lines.slice(-maxStderrLines)) {
      const plain = plainLine(line)
      if (plain !== undefined) this.#stderrLines.push(plain)
    }
    if (this.#stderrLines.length > maxStderrLines)
      this.#stderrLines.splice(0, this.#stderrLines.length - maxStderrLines)
  }

  #finish(): void {
    if (this.#closed) return
    this.#closed = true
    const child = this.#child
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy()
    if (child !== undefined) this.#closing ??= endServerProcess(child)
    this.onclose?.()
  }
}

const whatToDo = "Make it write its log to stderr, or start it with the command that its documentation names for stdio."

function startProblem(cwd: string): string | undefined {
  const max = clientLimits.processes
  if (serverProcessCount() >= max) return `${max} servers run already in this process, which is the limit; disable one`
  return existsSync(cwd) ? undefined : `its folder ${cwd} does not exist`
}

/** Undefined for an empty line. */
function plainLine(line: string): string | undefined {
  const plain = line.replaceAll(/\p{Cc}/gu, " ").trim()
  return plain === "" ? undefined : plain.slice(0, maxStderrCharacters)
}

function messageIn(line: string): JSONRPCMessage | undefined {
  if (line === "" || line[0] !== "{") return undefined
  try {
    const value = JSON.parse(line) as JSONRPCMessage
    return value.jsonrpc === "2.0" ? value : undefined
  } catch {
    return undefined
  }
}

function startFailure(command: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `was not started, because the command ${command} was not found`
  if (error.code === "EACCES") return `was not started, because the command ${command} may not be run`
  return `was not started: ${error.message}`
}
