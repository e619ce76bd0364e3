import type { ChainTurn } from "../../../agents/context/turns.ts"
import { titleOf } from "../../../agents/chain/call-rows.ts"
import type { BranchedJson } from "./chain-schemas.ts"
import type { Api } from "./endpoint.ts"

/** The calls in these turns that ran and may have changed something. They are not undone. */
export function stays({ app }: Api, agentId: string, turns: readonly ChainTurn[]): BranchedJson["stays"] {
  return turns.flatMap((turn, at) => {
    const asked = turns.slice(0, at).findLast(({ kind }) => kind === "assistant")
    if (turn.kind !== "results" || asked?.kind !== "assistant") return []
    return turn.body.results.flatMap(({ callId, name, status, isError, canBeReadAgain }, place) => {
      const effect = app.findTool(name)?.effect
      const changes = effect !== "none" && effect !== "read" && canBeReadAgain !== true
      const call = asked.body.calls[place]
      const ran = status === "success" || status === "error"
      if (callId === undefined || call === undefined || !changes || !ran) return []
      return [{ callId, tool: name, title: titleOf(app, agentId, call), ok: !isError }]
    })
  })
}
