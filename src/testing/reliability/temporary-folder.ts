import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A folder for one of several concurrent tests, removed by the `onTestFinished` of that test. */
export function temporaryFolderFor(onTestFinished: (clean: () => void) => void): string {
  const dir = mkdtempSync(join(tmpdir(), "qm-test-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}
