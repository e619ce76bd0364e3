import { Ending } from "../core/ending.ts"

/** Waits for a connection until the call that needs it is cancelled. */
export async function unlessAborted(work: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return work
  const aborted = () => new Ending("aborted", "The call was cancelled before the MCP server was connected.")
  if (signal.aborted) throw aborted()
  let stop = () => {}
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(aborted())
    signal.addEventListener("abort", stop, { once: true })
  })
  try {
    await Promise.race([work, stopped])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}
