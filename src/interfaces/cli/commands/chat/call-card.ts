import type { TerminalStyle } from "../../../../lib/terminal-style.ts"
import type { CallEnding } from "../../terminal/call-line.ts"

/** A card with its sign in a colour and what is said about a call that went well dimmed. */
export function paintCard(card: readonly string[], { kind }: CallEnding, paint: TerminalStyle): string[] {
  const colour = { done: paint.green, refused: paint.yellow, failed: paint.red }[kind]
  return card.map((row, place) => {
    if (place > 0) return kind === "done" ? paint.dim(row) : colour(row)
    const rest = kind === "done" ? paint.dim(row.slice(1)) : row.slice(1)
    return `${colour(row.slice(0, 1))}${rest}`
  })
}
