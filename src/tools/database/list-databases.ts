import { z } from "zod"
import type { Databases } from "../../platform/database/database-access.ts"
import { defineTool } from "../../schema/define-tool.ts"

/** Lists the databases that the agent may use, never their addresses. */
export const listDatabases = (databases: Databases) =>
  defineTool({
    name: "list_databases",
    group: "databases",
    category: "data",
    description: "List the databases you may use, with their kind, which decides the SQL to write.",
    effect: "read",
    idempotent: true,
    input: () => z.object({}),
    output: () =>
      z.object({
        databases: z.array(
          z.object({
            name: z.string(),
            kind: z.enum(["SQLite", "PostgreSQL"]),
            readOnly: z.boolean(),
            description: z.string().optional(),
          }),
        ),
      }),
    execute: (_, { agent }) => ({ databases: databases.list(agent.id).map((one) => ({ ...one })) }),
  })
