import { randomUUID } from "node:crypto"
import {
  closeSync,
  constants,
  fstatSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { OAuthDiscoveryState, StoredOAuthClientInformation, StoredOAuthTokens } from "@modelcontextprotocol/client"

/** The content of a login file. All of it is secret. The field names are stored: do not rename them. */
export interface Login {
  /** The client we registered as. */
  readonly client?: StoredOAuthClientInformation
  readonly discovery?: OAuthDiscoveryState
  readonly tokens?: LoginTokens
  /** The authorization server that the configured client was first used with. */
  readonly issuer?: string
  /** The scope that was requested last. */
  readonly asked?: string
  /** The server's requirement when it last refused us. */
  readonly wanted?: Challenge
  /** A sign-in that waits for a person. */
  readonly pending?: PendingSignIn
}

export interface LoginTokens extends StoredOAuthTokens {
  readonly expiresAt?: number
}

export interface Challenge {
  readonly scope?: string
  readonly resourceMetadataUrl?: string
}

export interface PendingSignIn {
  readonly state: string
  readonly verifier: string
  readonly redirectUrl: string
  readonly scope?: string
  readonly client: StoredOAuthClientInformation
  readonly discovery: OAuthDiscoveryState
  readonly at: number
}

/**
 * The private login file of one server. It is valid only for the URL it was created for. Readers see the old or the new
 * content, never a part of it. Changes hold a lock, so that two processes do not overwrite each other.
 */
export class LoginFile {
  readonly path: string
  readonly #server: string
  readonly #url: string
  #cached: { version: string; login: Login } | undefined

  constructor(folder: string, server: string, url: string) {
    this.path = join(folder, `${server}.json`)
    this.#server = server
    this.#url = url
  }

  /** Reads the file again only if it has changed. */
  read(): Login {
    const version = versionOf(this.path)
    if (version === undefined) return {}
    if (this.#cached?.version !== version) this.#cached = { version, login: this.#parse(readPrivate(this.path)) }
    return this.#cached.login
  }

  /** Changes the content under the lock. `make` gets the current content; undefined leaves it unchanged. */
  async change(make: (login: Login) => Login | undefined | Promise<Login | undefined>): Promise<Login> {
    mkdirSync(dirname(this.path), { recursive: true, mode: 0o700 })
    const unlock = await lock(`${this.path}.lock`)
    try {
      const before = this.read()
      const next = await make(before)
      if (next === undefined) return before
      this.#write(next)
      return next
    } finally {
      unlock()
    }
  }

  /** Returns whether there was a file. */
  async remove(): Promise<boolean> {
    if (versionOf(this.path) === undefined) return false
    const unlock = await lock(`${this.path}.lock`)
    try {
      rmSync(this.path, { force: true })
      return true
    } finally {
      unlock()
    }
  }

  #write(login: Login): void {
    const temporary = `${this.path}.${randomUUID()}.part`
    try {
      const text = JSON.stringify({ server: this.#server, url: this.#url, ...login })
      writeFileSync(temporary, text, { mode: 0o600, flag: "wx", flush: true })
      renameSync(temporary, this.path)
    } finally {
      rmSync(temporary, { force: true })
    }
  }

  #parse(text: string | undefined): Login {
    if (text === undefined) return {}
    let found: { server?: unknown; url?: unknown } & Login
    try {
      found = JSON.parse(text) as typeof found
    } catch {
      throw new Error(`${this.path} is damaged. Delete it and sign in again: qm mcp login ${this.#server}`)
    }
    const { server, url, ...login } = found
    return server === this.#server && url === this.#url ? login : {}
  }
}

/** Changes with every write, because each write creates a new file. */
function versionOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true })
  return found === undefined ? undefined : `${found.ino}.${found.mtimeNs}.${found.size}`
}

function readPrivate(path: string): string | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
    const { uid, mode } = fstatSync(descriptor)
    if (process.getuid !== undefined && uid !== process.getuid())
      throw new Error(`${path} belongs to another user, so it is not used. Delete it.`)
    if (process.getuid !== undefined && (mode & 0o077) !== 0)
      throw new Error(`Others can read ${path}, so its secrets may be known. Delete it and sign in again.`)
    return readFileSync(descriptor, "utf8")
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === "ENOENT") return undefined
    if (code === "ELOOP")
      throw new Error(`${path} is a link, but it must be a regular file. Delete it.`, { cause: error })
    throw error
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Longer than any change takes, so that an older lock belongs to a process that died. */
const staleMs = 60_000
const lockTimeoutMs = 40_000

async function lock(path: string): Promise<() => void> {
  const owner = randomUUID()
  let pause = 1
  for (const end = Date.now() + lockTimeoutMs; ;) {
    try {
      writeFileSync(path, owner, { mode: 0o600, flag: "wx" })
      return () => {
        if (readIfExists(path) === owner) rmSync(path, { force: true })
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
    breakStale(path)
    if (Date.now() > end) throw new Error(`${path} is held by another process. Try again when it has ended.`)
    await sleep(pause)
    pause = Math.min(25, pause * 2)
  }
}

/** Removes a stale lock by moving it away. A process that moved a fresh lock by mistake puts it back. */
function breakStale(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined || Date.now() - found.mtimeMs < staleMs) return
  const aside = `${path}.${randomUUID()}.part`
  try {
    renameSync(path, aside)
    if (statSync(aside).ino !== found.ino) linkSync(aside, path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== "ENOENT" && code !== "EEXIST") throw error
  } finally {
    rmSync(aside, { force: true })
  }
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
