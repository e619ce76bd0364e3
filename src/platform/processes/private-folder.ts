import { execFile } from "node:child_process"
import { closeSync, constants, existsSync, mkdtempSync, openSync, rmSync, unlinkSync, writeFileSync } from "node:fs"
import { Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import { failure } from "../../core/ending.ts"

const pipesPerBatch = 16

/** The two ends of a pipe. */
export interface Pipe {
  /** The descriptor the command writes to. The caller closes it after passing it on. */
  readonly writer: number
  readonly reader: Socket
}

/**
 * A temporary folder outside the workspace that only this user can read: for pipes, for content passed to commands by
 * descriptor, and for output too long for memory. It is created when it is first needed.
 */
export class PrivateFolder {
  #path: string | undefined
  #count = 0
  #pipes: string[] = []
  #making: Promise<void> | undefined

  /** A new path in the folder. */
  newPath(): string {
    // A cleanup of /tmp may have removed it.
    if (this.#path === undefined || !existsSync(this.#path)) this.#path = mkdtempSync(join(tmpdir(), "quartermaster-"))
    return join(this.#path, String(++this.#count))
  }

  /** A descriptor to read these bytes from. The file behind it has no name. */
  readable(content: string | Uint8Array): number {
    const path = this.newPath()
    writeFileSync(path, content, { mode: 0o600, flag: "wx" })
    try {
      return openSync(path, constants.O_RDONLY)
    } finally {
      unlinkSync(path)
    }
  }

  /**
   * A real pipe. Node gives a child sockets, which a script that writes to /dev/stderr cannot open.
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

  /** Removes the folder with its content. It can be used again afterwards. */
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
      throw failure("Commands need mkfifo, and it is not installed here. Ask a person to install coreutils.", {
        toolCode: "no_shell",
      })
    }
    const names = Array.from({ length: pipesPerBatch }, () => this.newPath())
    await promisify(execFile)(program, ["-m", "600", ...names])
    this.#pipes.push(...names)
  }
}
