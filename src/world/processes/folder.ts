import { execFile } from "node:child_process"
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync, unlinkSync, writeFileSync } from "node:fs"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { failure } from "../../model/ending.ts"

const batch = 16

/** The two ends of a pipe. */
export interface Pipe {
  /** The descriptor the command writes to; whoever hands it on closes it here. */
  readonly writer: number
  readonly reader: Socket
}

/**
 * A folder of our own outside the workspace, which only this user can look into: for pipes, for what is handed to a
 * command by descriptor, and for output too long to be kept in memory. It is made when it is needed.
 */
export class PrivateFolder {
  #path: string | undefined
  #count = 0
  #pipes: string[] = []
  #making: Promise<void> | undefined

  /** A new name in it. */
  name(): string {
    // Whoever tidies up /tmp may have taken it away.
    if (this.#path === undefined || !existsSync(this.#path)) this.#path = mkdtempSync(join(tmpdir(), "quartermaster-"))
    return join(this.#path, String(++this.#count))
  }

  /** A descriptor from which these bytes can be read, without a name. */
  readable(content: string | Uint8Array): number {
    const path = this.name()
    writeFileSync(path, content, { mode: 0o600, flag: "wx" })
    try {
      return openSync(path, constants.O_RDONLY)
    } finally {
      unlinkSync(path)
    }
  }

  /**
   * A real pipe. What Node makes for a child are sockets, and a script that writes to /dev/stderr cannot open those.
   */
  async pipe(): Promise<Pipe> {
    let path = this.#pipes.pop()
    while (path === undefined || !existsSync(path)) {
      if (this.#pipes.length === 0) {
        await (this.#making ??= this.#makePipes().finally(() => (this.#making = undefined)))
      }
      path = this.#pipes.pop()
    }
    const reading = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    try {
      const writer = openSync(path, constants.O_WRONLY)
      return { writer, reader: new Socket({ fd: reading, readable: true, writable: false }) }
    } catch (error) {
      closeSync(reading)
      throw error
    } finally {
      unlinkSync(path)
    }
  }

  /** Removes it with all that is in it. It can be used again afterwards. */
  remove(): void {
    if (this.#path !== undefined) rmSync(this.#path, { recursive: true, force: true })
    this.#path = undefined
    this.#pipes = []
  }

  async #makePipes(): Promise<void> {
    const program = ["/usr/bin/mkfifo", "/bin/mkfifo", "/run/current-system/sw/bin/mkfifo"].find((path) =>
      existsSync(path),
    )
    if (program === undefined) {
      throw failure("There is no mkfifo here, which commands need. Install coreutils.", { toolCode: "no_shell" })
    }
    const names = Array.from({ length: batch }, () => this.name())
    await promisify(execFile)(program, ["-m", "600", ...names])
    this.#pipes.push(...names)
  }
}
