import { QuartermasterProblem } from "./problem.ts"

const waits = [250, 1000, 2000, 4000, 8000]
const mostTries = 20

/** Waits before the next try, by the number of failures in a row. */
export function pauseAfter(failures: number, signal: AbortSignal | undefined): Promise<void> {
  return sleep(waits[Math.min(failures, waits.length - 1)]!, signal)
}

/** Asks again while the server cannot be reached or is overloaded: about two minutes, in which it may be started again. */
export async function askAgain<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await ask()
    } catch (error) {
      if (signal?.aborted === true || isRefusal(error) || failures === mostTries) throw error
    }
    await pauseAfter(failures, signal)
  }
}

/** Reports whether the server has answered and would answer the same again. */
export function isRefusal(error: unknown): boolean {
  if (!(error instanceof QuartermasterProblem)) return false
  const { status } = error
  return status >= 400 && status < 500 && status !== 408 && status !== 429
}

function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener("abort", end)
  })
}
