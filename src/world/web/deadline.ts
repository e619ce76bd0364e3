import { failure, type ToolFailure } from "../../model/ending.ts"
import type { WebAddress } from "../../policy/hosts-reading.ts"

/** The time a whole request has, redirects and the wait for its turn included. */
export interface Deadline {
  readonly signal: AbortSignal
  /** So many bytes have come meanwhile. */
  came(bytes: number): void
  /** What to throw when the time is up or the caller gave up; undefined when neither is so. */
  ending(address: WebAddress): unknown
  clear(): void
}

export function startDeadline(timeoutMs: number, caller: AbortSignal | undefined): Deadline {
  const controller = new AbortController()
  const giveUp = () => controller.abort(caller?.reason)
  let isUp = false
  let bytes = 0
  const timer = setTimeout(() => {
    isUp = true
    controller.abort()
  }, timeoutMs)
  caller?.addEventListener("abort", giveUp, { once: true })
  if (caller?.aborted === true) giveUp()
  return {
    signal: controller.signal,
    came: (more) => void (bytes += more),
    ending: (address) =>
      caller?.aborted === true ? caller.reason : isUp ? timeUp(address, timeoutMs, bytes) : undefined,
    clear() {
      clearTimeout(timer)
      caller?.removeEventListener("abort", giveUp)
    },
  }
}

function timeUp({ host }: WebAddress, timeoutMs: number, bytes: number): ToolFailure {
  const seconds = `${timeoutMs / 1000} s`
  const sentence =
    bytes === 0
      ? `${host} did not answer within ${seconds}. Try later, or allow it more time.`
      : `${host} did not finish its answer within ${seconds}; ${bytes} bytes had come. Ask for less, or allow it more time.`
  return failure(sentence, { toolCode: "request_timeout", metadata: { host } })
}
