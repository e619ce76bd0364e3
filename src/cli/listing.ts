import type { Session } from "./house.ts"
import { answer, jsonText, say, tell } from "./output.ts"
import { paintFor, type Paint } from "../model/paint.ts"
import { columnsOf, table } from "./table.ts"

export interface Cell<Row> {
  title: string
  of: (row: Row) => string | number | undefined
  paint?: keyof Paint | ((paint: Paint, cell: string) => string)
}

/** A list as every command shows one: JSON for programs, a table for people, or a sentence when there is nothing. */
export async function showList<Row>(
  session: Session,
  rows: readonly Row[],
  cells: readonly Cell<Row>[],
  empty: string,
  options: { whole?: boolean } = {},
): Promise<void> {
  const { io, house, flags } = session
  if (flags.json) return tell(session, jsonText(rows, house))
  if (rows.length === 0) return say(session, empty)
  const paint = await paintFor(io.stdout, io.env)
  const head = cells.map(({ title, paint: chosen }) => {
    if (chosen === undefined) return { title }
    return { title, paint: typeof chosen === "string" ? paint[chosen] : (cell: string) => chosen(paint, cell) }
  })
  const texts = rows.map((row) => cells.map(({ of }) => house.printable(textOf(of(row)))))
  tell(session, table(head, texts, options.whole === true ? Infinity : columnsOf(io.stdout)))
}

/** One thing, a field a line. A value of several lines is indented, so that none of them can pass for a field. */
export function showFields(
  session: Session,
  value: unknown,
  fields: readonly (readonly [name: string, value: string | number | undefined])[],
): void {
  const margin = Math.max(...fields.map(([name]) => name.length)) + 2
  const lines = fields.map(([name, of]) => {
    return `${`${name}:`.padEnd(margin)}${textOf(of).replaceAll("\n", `\n${" ".repeat(margin)}`)}`
  })
  answer(session, value, lines.join("\n"))
}

function textOf(value: string | number | undefined): string {
  return value === undefined || value === "" ? "-" : String(value)
}
