import { z } from "zod"
import type { Databases } from "../../platform/database/database-access.ts"
import { defineTool } from "../../schema/define-tool.ts"
import { database, databaseTouch } from "./database-schemas.ts"

const names = z.array(z.string())

/** Describes the tables of a database. */
export const describeDatabase = (databases: Databases) =>
  defineTool({
    name: "describe_database",
    group: "databases",
    category: "data",
    description: "Describe a database: its tables and views with columns, keys and about how many rows they have.",
    effect: "read",
    idempotent: true,
    input: () =>
      z.object({
        database,
        table: z.string().min(1).optional().describe("Only this table or view, for example orders"),
        limit: z.number().int().min(1).max(200).default(50).describe("How many tables at most"),
        offset: z.number().int().min(0).default(0).describe("How many tables to skip, for the next page"),
      }),
    output: () =>
      z.object({
        tables: z.array(
          z.object({
            name: z.string(),
            kind: z.enum(["table", "view"]),
            estimatedRows: z.number().nullable(),
            columns: z.array(
              z.object({ name: z.string(), type: z.string(), nullable: z.boolean(), default: z.string().optional() }),
            ),
            primaryKey: names,
            unique: z.array(names),
            foreignKeys: z.array(z.object({ columns: names, table: z.string(), references: names })),
          }),
        ),
        more: z.boolean(),
      }),
    touches: (input) => databaseTouch(databases, input.database),
    execute: ({ database: name, ...request }, { signal }) => databases.describe(name, { ...request, signal }) as never,
  })
