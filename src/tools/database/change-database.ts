import stringWidth from "fast-string-width"
import { z } from "zod"
import type { Databases, MatchingRows, RowPage, Statement } from "../../model/databases.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { columns, databaseTouch, rows, statementFields, statementText } from "./database-schemas.ts"

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
    input: z.object({
      ...statementFields,
      sql: z
        .string()
        .min(1)
        .max(100_000)
        .describe("One statement that writes, for example: update orders set state = ? where id = ?"),
    }),
    output: z.object({
      changedRows: z.number().nullable(),
      returned: z.object({ columns, rows, more: z.boolean() }).optional().describe("What RETURNING gave"),
    }),
    touches: (input) => databaseTouch(databases, input.database),

    async preview({ database, ...statement }) {
      const found = await databases.matchingRows(database, statement)
      return previewOf(database, statement, found)
    },

    async execute({ database, ...statement }, { signal }) {
      const { changedRows, returned } = await databases.change(database, { ...statement, signal })
      if (returned === undefined) return { changedRows }
      const { columns: names, rows: values, more } = returned
      return { changedRows, returned: { columns: [...names], rows: values.map((row) => [...row]), more } }
    },
  })

/** What an approver reads: the statement, and the rows as they are now. */
function previewOf(database: string, statement: Statement, found: MatchingRows): string {
  const head = `${statementText(statement)}\n\nDatabase: ${database}`
  if ("unknown" in found) return `${head}\n\n${found.unknown}`
  const { table, count, first, isWholeTable } = found
  const which = isWholeTable ? `It has no condition: it is about all rows of ${table}` : `Its condition matches`
  const many = count === 1 ? "1 row" : `${count} rows`
  const rest = count > first.rows.length ? `The first ${first.rows.length} of them now:` : "They are now:"
  const shown = count === 0 ? "" : ` ${count === 1 ? "It is now:" : rest}\n\n${tableText(first)}`
  const ending = isWholeTable ? `, ${many}.` : ` ${many} of ${table}.`
  return `${head}\n\n${which}${ending}${shown}\n\nTriggers and foreign keys may change more.`
}

const cellWidth = 40

function tableText({ columns: names, rows: values }: RowPage): string {
  const lines = [names.map(({ name }) => name), ...values.map((row) => row.map(cellText))]
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
  const text = typeof value === "string" ? value.replace(/\s+/g, " ") : JSON.stringify(value)
  const letters = Array.from(text)
  return letters.length <= cellWidth ? text : `${letters.slice(0, cellWidth - 1).join("")}…`
}
