import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { requireKnownFolder, examineFolder } from "../known-folders.ts"
import { makeFolders, problemsOf } from "../testing.ts"

/** A working folder with the default data folder in it, and what a cloned repository would have brought. */
export function makeDataFolder() {
  const { cwd, home } = makeFolders()
  const dataDir = join(cwd, ".quartermaster")
  const enter = (more: { named?: boolean; env?: Record<string, string>; dataDir?: string } = {}) =>
    problemsOf(() => requireKnownFolder(more.dataDir ?? dataDir, { home, env: {}, named: false, ...more }))
  const bring = (...names: string[]) => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    for (const name of names) writeFileSync(join(dataDir, name), "prepared", { mode: 0o600 })
  }
  const trust = (given = dataDir) => problemsOf(() => examineFolder(given, { cwd, home, env: {} }).pin())
  return { cwd, home, dataDir, enter, bring, trust, notes: join(home, ".config", "quartermaster", "folders") }
}
