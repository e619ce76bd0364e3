import { expect, test } from "vitest"
import { stringify } from "yaml"
import { loadConfig } from "./load.ts"
import { makeFolders } from "./testing.ts"

test("an untrusted file can lower the limits of commands, never raise them, and cannot change the trash", () => {
  const { cwd, home, write } = makeFolders()
  const limits = { memoryMb: 100, fileMb: 2049, processes: 513, tmpMb: 1024 }
  write("quartermaster.yml", stringify({ tools: { shell: { limits }, trash: { days: 1, maxMb: 1 } } }))
  const { config, ignored } = loadConfig({ cwd, home, env: {} })
  expect(config.tools).toEqual({ shell: { limits: { memoryMb: 100, tmpMb: 1024 } }, trash: {} })
  expect(ignored.map(({ key }) => key)).toEqual([
    "tools.shell.limits.fileMb",
    "tools.shell.limits.processes",
    "tools.trash.days",
    "tools.trash.maxMb",
  ])
})
