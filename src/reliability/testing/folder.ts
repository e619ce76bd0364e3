import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder for one of several tests that run at once, removed by `onTestFinished` of that very test. */
export function folderFor(onTestFinished: (clean: () => void) => void): string {
  const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
