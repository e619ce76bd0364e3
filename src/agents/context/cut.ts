import type { ChainTurn } from "./turns.ts"

/** Reports whether a turn is a message to or from the model. */
export function isMessage({ kind }: ChainTurn): boolean {
  return kind === "user" || kind === "assistant" || kind === "results"
}

/** The index from which on turns are still shown to the model. */
export function shownFrom(turns: readonly ChainTurn[]): number {
  return turns.findLast((turn) => turn.kind === "summary")?.body.before ?? 0
}

/**
 * The places where the older part of a conversation may be cut off, in ascending order: nowhere between a call and its
 * result.
 */
export function cuts(turns: readonly ChainTurn[]): number[] {
  const start = shownFrom(turns)
  const places: number[] = []
  let awaitsResults = false
  for (const turn of turns) {
    if (turn.index > start && !awaitsResults && (turn.kind === "user" || turn.kind === "assistant"))
      places.push(turn.index)
    if (turn.kind === "assistant") awaitsResults = turn.body.calls.length > 0
    if (turn.kind === "results") awaitsResults = false
  }
  return places
}

/** The last place for a cut that leaves at least so many messages. */
export function cutForMessages(turns: readonly ChainTurn[], keep: number): number | undefined {
  return cuts(turns).findLast((place) => turns.slice(place).filter(isMessage).length >= keep)
}

/** The first place for a cut that leaves at most this size; if even the last exchange is larger, the place before it. */
export function cutForSize(
  turns: readonly ChainTurn[],
  most: number,
  sizeOf: (turn: ChainTurn) => number,
): number | undefined {
  const places = cuts(turns)
  const sizeFrom = (place: number) => turns.slice(place).reduce((sum, turn) => sum + sizeOf(turn), 0)
  return places.find((place) => sizeFrom(place) <= most) ?? places.at(-1)
}
