import { findOrBeginChain, moveHead } from "../sqlite/chains.ts"
import { transaction } from "../sqlite/database.ts"
import { entryText } from "../sqlite/entry-text.ts"
import { frameText, numberLine, sealOf } from "../sqlite/frames.ts"
import { closeChain } from "../sqlite/journal-mover.ts"
import { addSegment } from "../sqlite/segments.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { callEntries, openTestStore } from "./test-store.ts"

export const hour = 3_600_000
const first = Date.UTC(2026, 0, 1)
export const perDay = 10_000
export const agents = 10
export const tools = 10

/** Calls of ten agents and ten tools, ten thousand a day, written as the journal mover writes them. */
export async function record(days: number) {
  const store = await openTestStore({ dataDir: temporaryFolder() })
  const { database, key } = store
  let lines = 0
  for (let made = 0; made < days * perDay; made += perDay) {
    transaction(database, () => {
      const chain = findOrBeginChain(database, key, "00000000-0000-7000-8000-000000000000", "")
      let [seq, seal, text] = [chain.last_seq, chain.last_mac, ""]
      for (let call = made; call < made + perDay; call += 50) {
        let frame = ""
        for (const entry of calls(call, 50)) {
          const json = entryText(entry)
          const whole = entry.kind === "end" ? `${json.slice(0, -1)},"s":${seq}}` : json
          frame += numberLine(++seq, whole)
        }
        seal = sealOf(key, seal, frame)
        text += frameText(frame, seal)
        if ((call + 50) % 2000 !== 0) continue
        addSegment(database, chain.ordinal, text)
        text = ""
      }
      moveHead(database, key, chain, { seq, seal, file: null, offset: 0 })
      lines = seq
    })
  }
  closeChain({ database, key, dir: store.journalDir }, "00000000-0000-7000-8000-000000000000")
  return { store, lines, lastDay: first + (days - 1) * 24 * hour }
}

function calls(from: number, count: number) {
  return Array.from({ length: count }, (_, index) => {
    const call = from + index
    return callEntries({
      callId: `call-${String(call).padStart(9, "0")}`,
      at: first + Math.floor((call * 24 * hour) / perDay),
      agentId: `agent-${call % agents}`,
      tool: `tool-${Math.floor(call / agents) % tools}`,
      durationMs: 1,
      ...(call % 17 === 0 ? { code: "timeout" as const } : {}),
    })
  }).flat()
}
