import type { ChildProcess } from "node:child_process"
import { existsSync } from "node:fs"
import type { JSONRPCMessage, Transport } from "@modelcontextprotocol/client"
import { getDefaultEnvironment } from "@modelcontextprotocol/client/stdio"
import { isDeep } from "../../model/depth.ts"
import type { McpServerSpec } from "../../model/mcp.ts"
import { FloodGate, instead } from "./flood.ts"
import { clientLimits } from "./limits.ts"
import { Lines } from "./lines.ts"
import { childCount, endGroup, startGroup } from "./process-group.ts"

/** How long output may still come after the process has ended. */
const drainMs = 200
const keptLines = 20
const keptWidth = 400

/**
 * A server that is a child process. Unlike the SDK's transport it has a process group of its own, asks in place which
 * protocol is spoken instead of in a second process, and reads no more than it may.
 */
export class StdioTransport implements Transport {
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  onmessage?: Transport["onmessage"]
  /** By `pid` and `stderr` the SDK knows a child process. */
  readonly stderr = null
  readonly #spec: McpServerSpec
  readonly #cwd: string
  readonly #lines = new Lines(clientLimits.messageBytes)
  readonly #gate: FloodGate
  readonly #said: string[] = []
  #child: ChildProcess | undefined
  #earlier: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #over: Promise<void> | undefined
  #closed = false
  #end: string | undefined

  constructor(spec: McpServerSpec, cwd: string, onFlood: () => void) {
    this.#spec = spec
    this.#cwd = cwd
    this.#gate = new FloodGate(onFlood)
  }

  get pid(): number | undefined {
    return this.#closed ? undefined : this.#child?.pid
  }

  /** Whether there was a process, however it ended. */
  get wasStarted(): boolean {
    return this.#child?.pid !== undefined
  }

  /** How it ended, as the end of a sentence; undefined while it runs. */
  get end(): string | undefined {
    return this.#end
  }

  /** The last lines it wrote to its error output. */
  get said(): string {
    return this.#said.join("\n")
  }

  start(): Promise<void> {
    const cannot = whyNot(this.#cwd)
    if (cannot !== undefined) {
      this.#end = `was not started, because ${cannot}`
      return Promise.reject(new Error(this.#end))
    }
    const child = startGroup({
      command: this.#spec.command!,
      args: this.#spec.args ?? [],
      env: { ...getDefaultEnvironment(), ...this.#spec.env, QM_INSIDE: "1" },
      cwd: this.#cwd,
    })
    this.#child = child
    child.stdout!.on("data", (chunk: Buffer) => this.#read(chunk))
    child.stderr!.on("data", (chunk: Buffer) => this.#hear(chunk))
    for (const stream of [child.stdin!, child.stdout!, child.stderr!]) stream.on("error", () => {})
    child.once("exit", (code, signal) => {
      this.#end ??= signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`
      const late = setTimeout(() => this.#finish(), drainMs)
      child.once("close", () => {
        clearTimeout(late)
        this.#finish()
      })
    })
    return new Promise((resolve, reject) => {
      child.once("spawn", resolve)
      child.once("error", (error: NodeJS.ErrnoException) => {
        this.#end ??= notStarted(this.#spec.command!, error)
        reject(new Error(this.#end))
        this.#finish()
      })
    })
  }

  /** What is sent in one turn of the event loop is written at once: waking the server costs more than all the rest. */
  send(message: JSONRPCMessage): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error) => this.#whenOver(() => reject(error))
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

  /** A process that ended takes no message before we are told that it did: how it ended is to be known first. */
  #whenOver(act: () => void): void {
    const child = this.#child
    if (child === undefined || this.#closed) return act()
    this.#over ??= new Promise((resolve) => {
      child.once("close", () => resolve())
      setTimeout(() => setImmediate(resolve), drainMs)
    })
    void this.#over.then(act)
  }

  async #terminate(): Promise<void> {
    this.#end ??= "was closed"
    if (this.#child !== undefined) await endGroup(this.#child)
    this.#finish()
  }

  #read(chunk: Buffer): void {
    if (this.#closed) return
    try {
      for (const line of this.#lines.take(chunk)) this.#deliver(line)
    } catch (error) {
      this.#end ??= (error as Error).message
      this.#child!.stdout!.destroy()
      this.#finish()
      void this.close()
      return
    }
    const rest = this.#gate.restMs()
    if (rest <= 0) return
    this.#child!.stdout!.pause()
    setTimeout(() => this.#child!.stdout!.resume(), rest)
  }

  /**
   * What is no message, such as a line printed by mistake, is passed over. The SDK looks at notifications a moment later
   * than at answers, so each message waits for those before it: else an answer would overtake its own progress.
   */
  #deliver(line: string): void {
    const found = messageIn(line)
    const message = found !== undefined && isDeep(line, clientLimits.levels) ? instead(found) : found
    if (message === undefined || !this.#gate.lets(message)) return
    if (this.#earlier === undefined && !("method" in message)) return this.#hand(message)
    const turn: Promise<void> = (this.#earlier ?? Promise.resolve()).then(() => {
      if (this.#earlier === turn) this.#earlier = undefined
      this.#hand(message)
    })
    this.#earlier = turn
  }

  #hand(message: JSONRPCMessage): void {
    try {
      this.onmessage?.(message)
    } catch (error) {
      this.onerror?.(error as Error)
    }
  }

  #hear(chunk: Buffer): void {
    const lines = chunk.toString("utf8").split("\n")
    for (const line of lines.slice(-keptLines)) {
      const plain = line.replaceAll(/\p{Cc}/gu, " ").trim()
      if (plain !== "") this.#said.push(plain.slice(0, keptWidth))
    }
    if (this.#said.length > keptLines) this.#said.splice(0, this.#said.length - keptLines)
  }

  #finish(): void {
    if (this.#closed) return
    this.#closed = true
    const child = this.#child
    for (const stream of [child?.stdin, child?.stdout, child?.stderr]) stream?.destroy()
    if (child !== undefined) this.#closing ??= endGroup(child)
    this.onclose?.()
  }
}

function whyNot(cwd: string): string | undefined {
  const most = clientLimits.children
  if (childCount() >= most) return `${most} servers run already in this process, which is the most; disable one`
  return existsSync(cwd) ? undefined : `its folder ${cwd} does not exist`
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

function notStarted(command: string, error: NodeJS.ErrnoException): string {
  if (error.code === "ENOENT") return `was not started, because the command ${command} was not found`
  if (error.code === "EACCES") return `was not started, because the command ${command} may not be run`
  return `was not started: ${error.message}`
}
