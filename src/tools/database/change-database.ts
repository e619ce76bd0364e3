import { z } from "zod"
import type { Databases, MatchingRows, RowPage, Statement } from "../../platform/database/database-access.ts"
import { printable, printableJson } from "../../lib/printable.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { columns, databaseTouch, rows, statementFields } from "./database-schemas.ts"

/** Runs one statement that writes, in a transaction. The preview never runs it. */
export const changeDatabase = (databases: Databases) =>
  defineTool({
    name: "change_database",
    group: "databases",
    category: "data",
    description:
      "Change a database with one SQL statement, such as INSERT, UPDATE, DELETE or CREATE TABLE. It runs in a transaction of its own. Put values into parameters, not into the SQL.",
    effect: "write",
    destructive: true,
    permission: { level: "sensitive" },
    input: () =>
      z.object({
        ...statementFields,
        sql: z
          .string()
          .min(1)
          .max(100_000)
          .describe("One statement that writes, for example: update orders set state = ? where id = ?"),
      }),
    output: () =>
      z.object({
        changedRows: z.number().nullable(),
        returned: z.object({ columns, rows, more: z.boolean() }).optional().describe("What RETURNING gave"),
      }),
    touches: (input) => databaseTouch(databases, input.database),

    async preview({ database, ...statement }) {
      const found = await databases.matchingRows(database, statement)
      return await previewOf(database, statement, found)
    },

    async execute({ database, ...statement }, { signal, approved }) {
      // The preview was read again when the approval was checked; these are the rows that it showed.
      const shown = approved ? await databases.matchingRows(database, statement) : undefined
      const shownRows = shown !== undefined && "count" in shown ? shown.count : undefined
      const { changedRows, returned } = await databases.change(database, { ...statement, signal, shownRows })
      if (returned === undefined) return { changedRows }
      const { columns: names, rows: values, more } = returned
      return { changedRows, returned: { columns: [...names], rows: values.map((row) => [...row]), more } }
    },
  })

/** Returns an approver's text: the rows as they are now, then the statement. The agent's part follows "Statement". */
async function previewOf(database: string, { sql, parameters }: Statement, found: MatchingRows): Promise<string> {
  const given = parameters.map((value) => printableJson(value)).join(", ")
  return [
    `Database: ${database}`,
    ...("unknown" in found ? [oneLine(found.unknown)] : await rowsText(found)),
    ...(given === "" ? [] : [`Parameters: ${given}`]),
    `Statement:\n\n${printable(sql)}`,
  ].join("\n\n")
}

async function rowsText(matching: Exclude<MatchingRows, { unknown: string }>): Promise<string[]> {
  const { table, count, first, isWholeTable } = matching
  const name = oneLine(table)
  const many = count === 1 ? "1 row" : `${count} rows`
  const which = isWholeTable ? `It has no condition: it is about all rows of ${name}, ${many}.` : `Its condition matches ${many} of ${name}.` // prettier-ignore
  const rest = count > first.rows.length ? `The first ${first.rows.length} of them now:` : "They are now:"
  const shown = count === 0 ? [which] : [`${which} ${count === 1 ? "It is now:" : rest}`, await tableText(first)]
  return [...shown, "Triggers and foreign keys may change more."]
}

/** So that no name and no message looks like a sentence of ours. */
function oneLine(text: string): string {
  return printable(text.replace(/\s+/g, " ")).slice(0, 500)
}

const cellWidth = 40

async function tableText({ columns: names, rows: values }: RowPage): Promise<string> {
  const { default: stringWidth } = await import("fast-string-width")
  const lines = [names.map(({ name }) => cellText(name)), ...values.map((row) => row.map(cellText))]
  const widths = names.map((_, index) => Math.max(...lines.map((line) => stringWidth(line[index] ?? ""))))
  const padded = lines.map((line) =>
    line
      .map((cell, index) => cell + " ".repeat(widths[index]! - stringWidth(cell)))
      .join(" | ")
      .trimEnd(),
  )
  return [padded[0], widths.map((width) => "-".repeat(width)).join("-+-"), ...padded.slice(1)].join("\n")
}

function cellText(value: unknown): string {
  const text = typeof value === "string" ? printable(value.replace(/\s+/g, " ")) : printableJson(value)
  const letters = Array.from(text)
  return letters.length <= cellWidth ? text : `${letters.slice(0, cellWidth - 1).join("")}…`
}
