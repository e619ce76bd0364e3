import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { renameOrCopy } from "./rename-or-copy.ts"
import { descriptorOpener, realPathOpener } from "./folder-handle.ts"
import { inventory, refusalCode } from "./testing.ts"

const makers: Record<string, (path: string) => void> = {
  file: (path) => writeFileSync(path, "one"),
  folder: (path) => mkdirSync(join(path, "inner"), { recursive: true }),
  link: (path) => symlinkSync("nowhere", path),
}

const openers = existsSync("/proc/self/fd") ? [descriptorOpener, realPathOpener] : [realPathOpener]

test.each(Object.keys(makers))("a %s takes a name only if it is free at that moment", async (kind) => {
  for (const opener of openers)
    for (const [other, make] of Object.entries(makers)) {
      const dir = temporaryFolder()
      makers[kind]!(join(dir, "from"))
      make(join(dir, "to"))
      const before = inventory(dir)
      const folder = opener.open(dir)
      const go = (name: string) => renameOrCopy(opener, { folder, name: "from" }, { folder, name }, { from: "from", to: name, overwrite: false }) // prettier-ignore
      expect(await refusalCode(() => go("to")), other).toBe("exists")
      expect(inventory(dir)).toEqual(before)
      await go("free")
      expect([lstatSync(join(dir, "from"), { throwIfNoEntry: false }), lstatSync(join(dir, "free")).isDirectory()]).toEqual([undefined, kind === "folder"]) // prettier-ignore
      folder.close()
    }
})
