import type { ServerContext } from "@modelcontextprotocol/server"
import { clientNotifier } from "../notify-client.ts"

/** A notifier with a record of what it sends. */
export function recordingNotifier() {
  const notifications: { method: string; params: Record<string, unknown> }[] = []
  const notify = async (note: (typeof notifications)[number]) => void notifications.push(note)
  const context = { mcpReq: { notify, _meta: { progressToken: 1 } } } as unknown as ServerContext
  return { notifications, notifier: clientNotifier(context, "legacy", "debug") }
}
