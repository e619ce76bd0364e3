import { realpathSync } from "node:fs"
import { AgentPermits } from "../../call/state/permits.ts"
import { networkTimeoutMs } from "../../call/steps/run.ts"
import { defaults } from "../../config/schema.ts"
import { createPathPolicy } from "../../guards/paths/path-policy.ts"
import type { Permit } from "../../call/state/ports.ts"

/** Time limit of a tool, in milliseconds. */
export const DEFAULT_TOOL_TIMEOUT: number = defaults.tools.timeout

/** The same for tools that use the network. */
export const NETWORK_TOOL_TIMEOUT: number = networkTimeoutMs

/**
 * Reports whether a path is in one of these places, by its real path. Without a list, whether it is in the working
 * folder.
 */
export function isPathAllowed(path: string, allowedPaths?: readonly string[]): boolean {
  const policy = createPathPolicy({ workspace: realpathSync(process.cwd()), allowedPaths })
  const absolute = policy.resolve(path)
  const real = typeof absolute === "string" ? policy.realpath(absolute) : undefined
  return real !== undefined && policy.contains(real)
}

/**
 * Lets so many through at once, first come, first served.
 *
 * ```ts
 * const release = await semaphore.acquire()
 * await semaphore.run(() => work())
 * ```
 */
export class Semaphore {
  readonly #permits: AgentPermits
  readonly #held = new Set<Permit>()
  #count = 0

  constructor(permits: number) {
    this.#permits = new AgentPermits(permits)
  }

  /** Waits for a permit. Give it back with the returned function, or with `release()`. */
  async acquire(): Promise<() => void> {
    const callId = String(this.#count++)
    const request = { agentId: "", callId, exclusive: false, free: false, parentCallIds: [], signal: undefined }
    const permit = await this.#permits.acquire(request)
    this.#held.add(permit)
    return () => this.#giveBack(permit)
  }

  /** Gives back the permit that was taken first. */
  release(): void {
    const [first] = this.#held
    if (first !== undefined) this.#giveBack(first)
  }

  async run<T>(work: () => T | Promise<T>): Promise<T> {
    const release = await this.acquire()
    try {
      return await work()
    } finally {
      release()
    }
  }

  #giveBack(permit: Permit): void {
    this.#held.delete(permit)
    permit.release()
  }
}
