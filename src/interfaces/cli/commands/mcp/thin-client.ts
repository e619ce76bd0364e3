import { createInterface } from "node:readline"
import type { Duplex, Readable, Writable } from "node:stream"

interface Message {
  readonly id?: string | number
  readonly method?: string
  readonly result?: unknown
  readonly error?: unknown
}

/**
 * One MCP client, served by one server after the other. When a server goes away, what the client asked it is answered with
 * an error, and the next one is told how the client began.
 */
export class ThinClient {
  readonly #stdout: Writable
  #hasLeft = false
  #wire: Duplex | undefined
  /** Lines that came while there was no server. */
  #late: string[] = []
  /** The requests that no answer has come for. */
  readonly #open = new Set<string | number>()
  /** The first messages of a client of the revisions before 2026: each server must hear them. */
  #initialize: string | undefined
  #initialized: string | undefined

  constructor(stdin: Readable, stdout: Writable) {
    this.#stdout = stdout
    createInterface({ input: stdin, crlfDelay: Infinity })
      .on("line", (line) => this.#fromClient(line))
      .on("close", () => {
        this.#hasLeft = true
        this.#wire?.end()
      })
  }

  /** True when the client has closed stdin. */
  get hasLeft(): boolean {
    return this.#hasLeft
  }

  /** Passes messages both ways until the connection ends. */
  async serveBy(wire: Duplex): Promise<void> {
    wire.on("error", () => wire.destroy())
    const lines = createInterface({ input: wire, crlfDelay: Infinity })
    const ended = new Promise<void>((resolve) => wire.on("close", () => resolve()))
    if (this.#initialize !== undefined) await this.#beginAnew(wire, lines, this.#initialize, ended)
    lines.on("line", (line) => this.#fromServer(line))
    this.#wire = wire
    for (const line of this.#late.splice(0)) this.#fromClient(line)
    if (this.#hasLeft) wire.end()
    await ended
    this.#wire = undefined
    for (const id of this.#open) this.#write({ jsonrpc: "2.0", id, error: { code: -32_000, message: serverEnded } })
    this.#open.clear()
  }

  /** Tells a new server how the client began. Its answer is kept from the client, which had one before. */
  async #beginAnew(
    wire: Duplex,
    lines: ReturnType<typeof createInterface>,
    initialize: string,
    ended: Promise<void>,
  ): Promise<void> {
    const answered = new Promise<void>((resolve) => lines.once("line", () => resolve()))
    wire.write(`${initialize}\n`)
    await Promise.race([answered, ended])
    if (this.#initialized !== undefined) wire.write(`${this.#initialized}\n`)
    // The server may offer other tools now.
    if (this.#initialized !== undefined) this.#write({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
  }

  #fromClient(line: string): void {
    const wire = this.#wire
    if (wire === undefined) return void this.#late.push(line)
    const { id, method } = read(line)
    if (method === "initialize") this.#initialize = line
    if (method === "notifications/initialized") this.#initialized = line
    if (id !== undefined && method !== undefined) this.#open.add(id)
    wire.write(`${line}\n`)
  }

  #fromServer(line: string): void {
    const { id, method } = read(line)
    if (id !== undefined && method === undefined) this.#open.delete(id)
    this.#stdout.write(`${line}\n`)
  }

  #write(message: object): void {
    this.#stdout.write(`${JSON.stringify(message)}\n`)
  }
}

function read(line: string): Message {
  try {
    const message = JSON.parse(line) as unknown
    return typeof message === "object" && message !== null ? (message as Message) : {}
  } catch {
    return {}
  }
}

const serverEnded =
  "The Quartermaster server ended before this was answered. If it was a call, look into the audit log ('qm audit list') before you make it again: it may have run."
