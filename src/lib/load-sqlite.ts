import type { DatabaseSyncInstance } from "@photostructure/sqlite"

export interface Sqlite {
  DatabaseSync: new (file: string, options?: { readOnly?: boolean; timeout?: number }) => DatabaseSyncInstance
  backup(source: DatabaseSyncInstance, target: string, options: { rate: number }): Promise<number>
}

/** Node's own SQLite from version 24 on, else the packaged one. */
export async function loadSqlite(): Promise<Sqlite> {
  const major = Number(process.versions.node.split(".")[0])
  const builtin: string = "node:sqlite"
  return (major >= 24 ? await import(builtin) : await import("@photostructure/sqlite")) as never
}
