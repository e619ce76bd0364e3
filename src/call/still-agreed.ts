import { Ending } from "../model/ending.ts"
import { canonicalJson } from "../model/plain.ts"
import type { Ports } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { decideNow } from "./allowed.ts"
import { agentStopped, type Walk } from "./walk.ts"
import { visible } from "./visible.ts"

/**
 * A call that waited for its turn is looked at once more before its tool runs: a deny that came meanwhile ends it, and so
 * does an ask that nobody has answered, or another file than the one that was agreed to.
 */
export async function stillAgreed(walk: Walk, tool: RegisteredTool, input: unknown, ports: Ports): Promise<void> {
  const stopped = agentStopped(walk, ports)
  if (stopped !== undefined) throw stopped
  walk.who = ports.organisation.view(walk.request.agentId)
  visible(walk, tool, ports)
  const { verdict, reasons } = decideNow(walk, tool, input, ports)
  const { row } = walk
  const seen = row?.answer?.approved === true ? row.asks : []
  const asks = verdict === "ask" ? reasons.filter(({ shadow }) => shadow === undefined) : []
  const open = asks.find((ask) => !seen.some((known) => known.voice === ask.voice && known.sentence === ask.sentence))
  if (open !== undefined) throw changed(tool, open.sentence)
  if (row?.answer?.approved !== true || walk.touches.list.length === 0) return
  const files = await ports.digests(walk.touches)
  if (canonicalJson(files) !== canonicalJson(row.card.files)) throw changed(tool, "A file it names is another one now.")
}

function changed(tool: RegisteredTool, why: string): Ending {
  const sentence = `${tool.name} was not executed, because something changed while it waited for its turn: ${why}`
  return new Ending("permission_denied", `${sentence} Call again.`)
}
