import { z } from "zod"
import type { Databases } from "../../platform/database/database-access.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { columns, databaseTouch, rows, statementFields } from "./database-schemas.ts"

/** Runs one statement that reads. That it only reads is enforced by the database. */
export const queryDatabase = (databases: Databases) =>
  defineTool({
    name: "query_database",
    group: "databases",
    category: "data",
    description:
      "Read from a database with one SQL statement, such as a SELECT. Put values into parameters, not into the SQL. Each row is a list in the order of the columns; bytes are Base64. Write ORDER BY if you read several pages.",
    effect: "read",
    idempotent: true,
    input: () =>
      z.object({
        ...statementFields,
        sql: z
          .string()
          .min(1)
          .max(100_000)
          .describe("One statement that reads, for example: select id, total from orders where state = ?"),
        limit: z.number().int().min(1).max(1000).default(100).describe("How many rows at most"),
        offset: z.number().int().min(0).default(0).describe("How many rows to skip, for the next page"),
      }),
    output: () =>
      z.object({
        columns,
        rows,
        more: z.boolean().describe("Whether there are rows after these"),
        nextOffset: z.number().optional(),
      }),
    touches: (input) => databaseTouch(databases, input.database),

    async execute({ database, ...request }, { signal }) {
      const page = await databases.query(database, { ...request, signal })
      const result = { columns: [...page.columns], rows: page.rows.map((row) => [...row]), more: page.more }
      return page.more ? { ...result, nextOffset: request.offset + page.rows.length } : result
    },
  })
