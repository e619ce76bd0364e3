import { lengthText, oneLine, trustedRows, untrustedRows, type TextLimit } from "./card-rows.ts"
import { plainStyle, type Colour, type TerminalStyle } from "../../lib/terminal-style.ts"

export interface CardOptions {
  /** Shows everything, however long it is. */
  whole?: boolean
  paint?: TerminalStyle
  /** The width of the rows. */
  columns?: number
  /** The rows of the terminal: a long text is cut so that the card and the question below it fit. */
  rows?: number
  /** Says what a yes can add or remember. A dialog says it at the key for that. */
  offers?: boolean
  now?: number
}

/** Writes our own lines, and text of agents and tools that cannot be mistaken for them. */
export interface CardStyle {
  readonly whole: boolean
  readonly paint: TerminalStyle
  /** A line of our own. */
  line(text: string, colour?: Colour): string[]
  /** Text of an agent or tool inside a line of our own. */
  inline(text: string): string
  /** Text of an agent or tool behind a bar, cut at the limit unless `whole` is set. */
  block(text: string, limit?: TextLimit, colourOf?: (row: string) => Colour): string[]
  /** The same below a line with its title and length. */
  titledBlock(title: string, text: string, limit?: TextLimit, colourOf?: (row: string) => Colour): string[]
}

/** Limits for a card unless `whole` is set. */
export const longLimit: TextLimit = { characters: 4000, lines: 40 }
export const shortLimit: TextLimit = { characters: 800, lines: 10 }
const all: TextLimit = { characters: Infinity, lines: Infinity }

export function cardStyle({ whole = false, paint = plainStyle, columns = 100 }: CardOptions): CardStyle {
  const width = Math.max(20, columns || 100)
  const line: CardStyle["line"] = (text, colour) =>
    trustedRows(text, width).map((row) => (colour === undefined ? row : colour(row)))
  const block: CardStyle["block"] = (text, limit = longLimit, colourOf) => {
    const { rows, isCut } = untrustedRows(text, { columns: width, limit: whole ? all : limit, colourOf })
    return isCut ? [...rows, ...line(`… cut here: the whole has ${lengthText(text)}.`, paint.yellow)] : rows
  }
  return {
    whole,
    paint,
    line,
    inline: (text) => oneLine(text, whole ? Infinity : undefined),
    block,
    titledBlock: (title, text, limit, colourOf) => [
      ...line(`${title}, ${lengthText(text)}:`, paint.dim),
      ...block(text, limit, colourOf),
    ],
  }
}
