import { counted } from "../../lib/counted.ts"
import { askForMore } from "../chain/ask-for-more.ts"
import { hopsToolName } from "../chain/loop-tools.ts"
import type { ChainMail } from "../chain/mail.ts"
import type { ChainTurn, HopsTurn } from "../context/turns.ts"
import { hopsOf } from "./answers.ts"

/** Limit of messages that lead to each other before a person is asked. */
export const maxHops = 20

/** Asks a person, once for the whole tree, when agents have written to each other so often. A yes allows as many again. */
export const checkHops: ChainMail["checkHops"] = async (log, calls) => {
  const hops = hopsOf(log.turns)
  if (hops < maxHops) return undefined
  const { root } = log
  const given = answersOf(await root.turns())
  const allowed = given.reduce((sum, { more }) => sum + (more ?? 0), maxHops)
  if (hops < allowed) return undefined
  const refusal = `${counted(allowed, "message")} have led to each other, and nobody let them go on.`
  if (given.some(({ after, more }) => after === allowed && more === 0)) return { usedUp: refusal }
  const asked = await askForMore(
    {
      conversation: root,
      tool: hopsToolName,
      input: { agent: root.agentId, conversation: root.id, hops: allowed, more: maxHops },
      key: `${root.id}/hops/${given.length}`,
    },
    calls,
  )
  if ("waiting" in asked) return asked
  if (calls.request.signal?.aborted === true) return undefined
  if ("failed" in asked) return { usedUp: `${counted(allowed, "message")} have led to each other. ${asked.failed}` }
  const answer: HopsTurn =
    "takenBack" in asked
      ? { callId: asked.takenBack, after: allowed, more: null }
      : { callId: asked.callId, after: allowed, more: (asked.result as { more: number } | undefined)?.more ?? 0 }
  await root.post({ kind: "hops", body: answer })
  if (answer.more === null) return checkHops(log, calls)
  return hops < allowed + answer.more ? undefined : { usedUp: refusal }
}

/** Returns the answers of people, each question once. */
function answersOf(turns: readonly ChainTurn[]): HopsTurn[] {
  const answers = turns.flatMap((turn) => (turn.kind === "hops" ? [turn.body] : []))
  return [...new Map(answers.map((answer) => [answer.callId, answer])).values()]
}
