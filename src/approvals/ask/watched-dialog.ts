import { setTimeout as sleep } from "node:timers/promises"
import type { CloseReason } from "./dialog-signal.ts"

export const pollMs = 250

/**
 * Runs a dialog and looks again and again whether it must be closed, until it ends. `look` returns why, as a sentence.
 * `wasClosed` says that the dialog ended because of that or of the outer signal.
 */
export async function watchedDialog<T>(
  outer: AbortSignal,
  look: () => Promise<string | undefined>,
  dialog: (signal: AbortSignal) => Promise<T>,
): Promise<{ answer: T; wasClosed: boolean }> {
  const closer = new AbortController()
  const done = new AbortController()
  const close = (sentence: string) => closer.abort({ sentence } satisfies CloseReason)
  const onStop = () => {
    const { sentence = "Stopped." } = Object(outer.reason) as { sentence?: string }
    close(sentence)
  }
  outer.addEventListener("abort", onStop)
  if (outer.aborted) onStop()
  const watching = watch()
  try {
    const answer = await dialog(closer.signal)
    return { answer, wasClosed: closer.signal.aborted }
  } finally {
    outer.removeEventListener("abort", onStop)
    done.abort()
    await watching
  }

  async function watch(): Promise<void> {
    while (!done.signal.aborted && !closer.signal.aborted) {
      await sleep(pollMs, undefined, { signal: done.signal }).catch(() => {})
      // A look that fails says nothing. The queue checks every answer itself.
      const sentence = done.signal.aborted ? undefined : await look().catch(() => undefined)
      if (sentence !== undefined) close(sentence)
    }
  }
}
