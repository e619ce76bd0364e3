import { failure, type ToolFailure } from "../../core/ending.ts"
import type { WebAddress } from "../../guards/hosts/web-address.ts"

/** The time limit of a whole request, including redirects and the wait for its turn. */
export interface Deadline {
  readonly signal: AbortSignal
  /** Counts received bytes, for the error message. */
  onReceived(bytes: number): void
  /** The error to throw if the time is up or the caller aborted; otherwise undefined. */
  errorFor(address: WebAddress): unknown
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
    onReceived: (more) => void (bytes += more),
    errorFor: (address) =>
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
      : `${host} did not finish its response within ${seconds}; ${bytes} bytes had arrived. Ask for less, or allow it more time.`
  return failure(sentence, { toolCode: "request_timeout", metadata: { host } })
}
