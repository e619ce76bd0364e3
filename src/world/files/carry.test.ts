import { existsSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/open.ts"
import { carry } from "./carry.ts"
import { held, watched } from "./folder.ts"
import { inventory, refusal } from "./testing.ts"

const makers: Record<string, (path: string) => void> = {
  file: (path) => writeFileSync(path, "one"),
  folder: (path) => mkdirSync(join(path, "inner"), { recursive: true }),
  link: (path) => symlinkSync("nowhere", path),
}

const doorsHere = existsSync("/proc/self/fd") ? [held, watched] : [watched]

test.each(Object.keys(makers))(
  "a %s takes a name only if it is free when it gets there, whatever has it",
  async (kind) => {
    for (const doors of doorsHere)
      for (const [other, make] of Object.entries(makers)) {
        const dir = temporaryFolder()
        makers[kind]!(join(dir, "from"))
        make(join(dir, "to"))
        const before = inventory(dir)
        const folder = doors.open(dir)
        const go = (name: string) => carry(doors, { folder, name: "from" }, { folder, name }, { from: "from", to: name, overwrite: false }) // prettier-ignore
        expect(await refusal(() => go("to")), other).toBe("exists")
        expect(inventory(dir)).toEqual(before)
        await go("free")
        expect([lstatSync(join(dir, "from"), { throwIfNoEntry: false }), lstatSync(join(dir, "free")).isDirectory()]).toEqual([undefined, kind === "folder"]) // prettier-ignore
        folder.close()
      }
  },
)
