import type { Store } from "./store.ts"

// Placeholder of the lead so that the build passes; the record helper replaces this file.
export function backup(_store: Store, _folder: string): Promise<{ files: number; bytes: number }> {
  throw new Error("Not built yet.")
}
export function restore(_folder: string, _dataDir: string, _options: { replace?: boolean }): Promise<{ files: number; bytes: number }> {
  throw new Error("Not built yet.")
}
