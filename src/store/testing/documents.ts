import { onTestFinished } from "vitest"
import type { Documents } from "../../core/documents.ts"
import { databaseFile } from "../../testing/test-app.ts"
import { openDatabase } from "../sqlite/database.ts"
import { SqliteDocuments } from "../sqlite/documents.ts"

export async function openDocumentsOn(file: string): Promise<SqliteDocuments> {
  const database = await openDatabase(file)
  onTestFinished(() => database.close())
  return new SqliteDocuments(database)
}

export async function openTwoDocuments(): Promise<[Documents, Documents]> {
  const file = await databaseFile()
  return [await openDocumentsOn(file), await openDocumentsOn(file)]
}
