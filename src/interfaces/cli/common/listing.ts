import { printable, printableJson } from "../../../lib/printable.ts"
import type { CliContext } from "./context.ts"
import { printResult, printMessage, printOutput } from "./output.ts"
import { terminalStyleFor, type TerminalStyle } from "../../../lib/terminal-style.ts"
import { columnsOf, table } from "../terminal/table.ts"

export interface ListColumn<Row> {
  title: string
  of: (row: Row) => string | number | undefined
  paint?: keyof TerminalStyle | ((paint: TerminalStyle, cell: string) => string)
}

/** Shows a list: JSON with --json, otherwise a table, or `empty` if there are no rows. */
export async function showList<Row>(
  context: CliContext,
  rows: readonly Row[],
  cells: readonly ListColumn<Row>[],
  empty: string,
  options: { whole?: boolean } = {},
): Promise<void> {
  const { io, flags } = context
  if (flags.json) return printOutput(context, printableJson(rows.map(withoutFalseTime)))
  if (rows.length === 0) return printMessage(context, empty)
  const paint = await terminalStyleFor(io.stdout, io.env)
  const head = cells.map(({ title, paint: chosen }) => {
    if (chosen === undefined) return { title }
    return { title, paint: typeof chosen === "string" ? paint[chosen] : (cell: string) => chosen(paint, cell) }
  })
  const texts = rows.map((row) => cells.map(({ of }) => printable(textOf(of(row)))))
  printOutput(context, table(head, texts, options.whole === true ? Infinity : columnsOf(io.stdout)))
}

/** Shows one item, a field per line. Further lines of a value are indented, so they cannot look like fields. */
export function showFields(
  context: CliContext,
  value: unknown,
  fields: readonly (readonly [name: string, value: string | number | undefined])[],
): void {
  const margin = Math.max(...fields.map(([name]) => name.length)) + 2
  const lines = fields.map(([name, of]) => {
    return `${`${name}:`.padEnd(margin)}${textOf(of).replaceAll("\n", `\n${" ".repeat(margin)}`)}`
  })
  printResult(context, withoutFalseTime(value), lines.join("\n"))
}

/** Returns the creator and the time of creation. Built-in and configured items have no time of creation. */
export function createdFields({ source, createdBy, madeBy, createdAt }: Created) {
  if (source !== "store") return []
  return [["created by", `${createdBy} (${madeBy})`] as const, ["created at", createdAt] as const]
}

interface Created {
  source: string
  createdBy: string
  madeBy: string
  createdAt: string
}

/** The same for programs: no time instead of 1970. */
function withoutFalseTime<Row>(row: Row): Row | (Row & { createdAt: null }) {
  const { source, createdAt } = row as Partial<Created>
  return source === undefined || source === "store" || createdAt === undefined ? row : { ...row, createdAt: null }
}

function textOf(value: string | number | undefined): string {
  return value === undefined || value === "" ? "-" : String(value)
}
