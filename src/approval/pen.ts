import { counted, oneLine, ourRows, theirRows, type Limit } from "./card-rows.ts"
import { noPaint, type Colour, type Paint } from "../model/paint.ts"

export interface CardOptions {
  /** Everything, however long it is. */
  whole?: boolean
  paint?: Paint
  /** How wide the rows may be. */
  columns?: number
  now?: number
}

/** How a card is written: lines of ours, and text of others that cannot pass for them. */
export interface Pen {
  readonly whole: boolean
  readonly paint: Paint
  /** A line of ours. */
  line(text: string, colour?: Colour): string[]
  /** Text of others inside a line of ours. */
  inside(text: string): string
  /** Text of others behind a bar, cut where it is too long and not wished for whole. */
  block(text: string, limit?: Limit, colourOf?: (row: string) => Colour): string[]
  /** The same under a line that says what it is and how long. */
  titled(title: string, text: string, limit?: Limit, colourOf?: (row: string) => Colour): string[]
}

/** How much is shown unless the whole is wished for. */
export const most: Limit = { characters: 4000, lines: 40 }
export const some: Limit = { characters: 800, lines: 10 }
const all: Limit = { characters: Infinity, lines: Infinity }

export function penFor({ whole = false, paint = noPaint, columns = 100 }: CardOptions): Pen {
  const width = Math.max(20, columns || 100)
  const line: Pen["line"] = (text, colour) =>
    ourRows(text, width).map((row) => (colour === undefined ? row : colour(row)))
  const block: Pen["block"] = (text, limit = most, colourOf) => {
    const { rows, isCut } = theirRows(text, { columns: width, limit: whole ? all : limit, colourOf })
    return isCut ? [...rows, ...line(`… cut here: the whole has ${counted(text)}.`, paint.yellow)] : rows
  }
  return {
    whole,
    paint,
    line,
    inside: (text) => oneLine(text, whole ? Infinity : undefined),
    block,
    titled: (title, text, limit, colourOf) => [
      ...line(`${title}, ${counted(text)}:`, paint.dim),
      ...block(text, limit, colourOf),
    ],
  }
}
