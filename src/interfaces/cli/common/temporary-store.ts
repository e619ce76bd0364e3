import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A private folder for the empty store of a command that only reads where there is no store. */
export function temporaryStore(): { dataDir: string; remove(): void } {
  const dataDir = mkdtempSync(join(tmpdir(), "quartermaster-"))
  return { dataDir, remove: () => rmSync(dataDir, { recursive: true, force: true }) }
}
