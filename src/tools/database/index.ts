import type { Databases } from "../../platform/database/database-access.ts"
import type { Tool } from "../../core/tool.ts"
import { changeDatabase } from "./change-database.ts"
import { describeDatabase } from "./describe-database.ts"
import { listDatabases } from "./list-databases.ts"
import { queryDatabase } from "./query-database.ts"

export const databaseTools = (databases: Databases): Tool[] => [
  listDatabases(databases),
  describeDatabase(databases),
  queryDatabase(databases),
  changeDatabase(databases),
]
