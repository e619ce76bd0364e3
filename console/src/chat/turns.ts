import type { ShownTurnJson } from "../../../src/interfaces/http/routes/chain-schemas.ts"

export type Turns = readonly ShownTurnJson[]

/**
 * The turns that were shown, with those that were read now. What was read replaces what was shown. Undefined when turns
 * between them were never read.
 */
export function joinTurns(shown: Turns, read: Turns): Turns | undefined {
  const [first] = read
  const last = shown.at(-1)
  if (first === undefined || last === undefined) return shown.length === 0 ? read : shown
  if (first.index > last.index + 1) return undefined
  const from = read.at(-1)!.index
  return [...shown.filter(({ index }) => index < first.index), ...read, ...shown.filter(({ index }) => index > from)]
}

/** The turns under the names of who speaks: several answers in a row have one name. */
export function withSpeakers(turns: Turns): readonly { readonly turn: ShownTurnJson; readonly speaks: boolean }[] {
  let speaker = ""
  return turns.map((turn) => {
    const now = turn.kind === "answer" ? "agent" : turn.kind === "message" ? `by ${turn.by}` : ""
    const speaks = now !== "" && now !== speaker
    if (now !== "") speaker = now
    return { turn, speaks }
  })
}
