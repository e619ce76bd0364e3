import { copyFileSync, mkdirSync } from "node:fs"
import { join } from "node:path"
import { onTestFinished, vi } from "vitest"
import { rememberFolder } from "../config/known-folders.ts"
import { databaseFile, temporaryFolder } from "../testing/test-app.ts"
import { closeStandalone } from "./fenced-apps.ts"

/** A new folder that counts as the working folder during one test. The apps of standalone calls are closed after it. */
export async function workingFolder(): Promise<string> {
  const folder = await projectFolder()
  const spy = vi.spyOn(process, "cwd").mockReturnValue(folder)
  onTestFinished(async () => {
    await closeStandalone()
    spy.mockRestore()
  })
  return folder
}

/** A new folder with an empty data folder in it, which this user has created. */
export async function projectFolder(): Promise<string> {
  const folder = temporaryFolder()
  const dataDir = join(folder, ".quartermaster")
  mkdirSync(dataDir, { mode: 0o700 })
  copyFileSync(await databaseFile(), join(dataDir, "quartermaster.db"))
  const home = temporaryFolder()
  vi.stubEnv("HOME", home)
  onTestFinished(() => void vi.unstubAllEnvs())
  rememberFolder(dataDir, home)
  return folder
}
