import { startSweeper, watchDocuments } from "../call/housekeeping.ts"
import { chainSettings } from "../config/call-settings.ts"
import { hasCallsLeft } from "../store/sqlite/lazy.ts"
import { keyWindowMs } from "../store/stored-request.ts"
import type { CallParts, Parts } from "./calls.ts"
import type { Setup } from "./setup.ts"

/** Whatever opened something that must be closed with the app. */
interface Closing {
  calls: CallParts
  agents: { idle(): Promise<void> }
  extensions: { mcp: { close(): Promise<void> }; plugins: { close(): Promise<void> } }
}

/** Reads what other processes change and sweeps what has expired, until the app closes. */
export function startHousekeeping(setup: Setup, { storage, builtins }: Parts, { calls, agents, extensions }: Closing) {
  const { store, documents } = storage
  const { keepMs } = chainSettings(setup.config)
  const sweep = () => calls.sweep(keepMs)
  const sweeper = startSweeper(sweep, calls.ports, setup.options.sweepMs ?? 30_000)
  const watch = watchDocuments(calls.ports, documents, (isStopped) => builtins.processes.endAll(isStopped))
  let closing: Promise<void> | undefined

  /** Cancels running calls, leaves waiting calls in the approval queue, records the endings, then closes the store. */
  async function closeAll(): Promise<void> {
    clearInterval(sweeper)
    clearInterval(watch)
    // Before their processes and servers end: a command that is killed by this must not count as finished.
    calls.stop()
    await Promise.all([extensions.mcp.close(), builtins.close()])
    await calls.idle()
    await agents.idle()
    await extensions.plugins.close()
    await store.close()
  }

  return {
    async sweep(): Promise<void> {
      if (hasCallsLeft(store, setup.now() - keyWindowMs)) await sweep()
    },
    close: (): Promise<void> => (closing ??= closeAll()),
  }
}
