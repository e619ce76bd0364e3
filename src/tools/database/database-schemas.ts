import { z } from "zod"
import type { Databases } from "../../platform/database/database-access.ts"
import type { Touch } from "../../core/touches.ts"

export const database = z
  .string()
  .min(1)
  .max(100)
  .describe("The database's name, from list_databases, for example shop")

const value = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.null(),
  z.array(z.unknown()),
  z.record(z.string(), z.unknown()),
])

export const statementFields = {
  database,
  parameters: z
    .array(value)
    .max(1000)
    .default([])
    .describe("The values of the placeholders, in their order: ? in SQLite, $1, $2 in PostgreSQL"),
}

export const columns = z.array(z.object({ name: z.string(), type: z.string() }))
export const rows = z.array(z.array(z.unknown()))

/** The database by its name, so that rules can name it, and the roles that may use it. */
export function databaseTouch(databases: Databases, name: string): Touch[] {
  const roles = databases.rolesOf(name)
  return [{ kind: "database", what: name, ...(roles === undefined ? {} : { roles }) }]
}
