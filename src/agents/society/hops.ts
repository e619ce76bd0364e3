import { isTicket } from "../../model/result.ts"
import { hopsToolName } from "../chain/loop-tools.ts"
import type { ChainMail } from "../chain/mail.ts"
import type { ChainTurn, HopsTurn } from "../chain/turns.ts"
import { hopsOf } from "./answers.ts"

/** How many messages may lead to each other before a person is asked. */
export const maxHops = 20

/** Asks a person, once for the whole tree, when agents have written to each other so often. A yes allows as many again. */
export const checkHops: ChainMail["checkHops"] = async (log, { app, request, waitMs }) => {
  const hops = hopsOf(log.turns)
  if (hops < maxHops) return undefined
  const { root } = log
  const given = answersOf(await root.turns())
  const allowed = given.reduce((sum, { more }) => sum + more, maxHops)
  if (hops < allowed) return undefined
  const isRefused = given.some(({ after, more }) => after === allowed && more === 0)
  if (isRefused) return { usedUp: refusal(allowed) }
  const asked = {
    ...request,
    agentId: root.agentId,
    sessionId: root.id,
    tool: hopsToolName,
    input: { conversation: root.id, hops, more: maxHops },
    key: `${root.id}/hops/${allowed}`,
  }
  const [ended] = await app.callBatch([asked], { waitMs })
  if (ended === undefined || isTicket(ended)) return ended && { waiting: ended }
  if (request.signal?.aborted === true) return undefined
  const more = ended.success ? (ended.result as { more: number }).more : 0
  await root.post({ kind: "hops", body: { callId: ended.callId, after: allowed, more } satisfies HopsTurn })
  return hops < allowed + more ? undefined : { usedUp: refusal(allowed) }
}

function refusal(allowed: number): string {
  return `${allowed} messages have led to each other, and nobody let them go on.`
}

/** What people answered, each question once. */
function answersOf(turns: readonly ChainTurn[]): HopsTurn[] {
  const byLevel = new Map(turns.flatMap((turn) => (turn.kind === "hops" ? [[turn.body.after, turn.body]] : [])))
  return [...byLevel.values()]
}
