import type { PluginCallCounter } from "./make-tools.ts"

export interface PluginCalls extends PluginCallCounter {
  /** Resolves when no call is running, or after this many milliseconds. */
  idle(milliseconds: number): Promise<void>
}

/** Counts the running calls of a plugin. */
export function countPluginCalls(): PluginCalls {
  let running = 0
  let onIdle: () => void = () => {}
  return {
    begin() {
      running++
      let isRunning = true
      return () => {
        if (!isRunning) return
        isRunning = false
        if (--running === 0) onIdle()
      }
    },
    async idle(milliseconds) {
      if (running === 0) return
      const out = new Promise<void>((resolve) => (onIdle = resolve))
      await withTimeout(milliseconds, out, "").catch(() => {})
    },
  }
}

/** Rejects with the sentence `<what> within 10 s.` when the work takes longer. */
export async function withTimeout<T>(milliseconds: number, work: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const sentence = `${what} within ${milliseconds / 1000} s.`
    timer = setTimeout(() => reject(new Error(sentence)), milliseconds)
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}
