import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { fileSizes } from "./file-sizes.ts"

test("a file has its size, a folder those of all its files, and links are not followed", async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, "deep/er"), { recursive: true })
  writeFileSync(join(folder, "a.txt"), "12345")
  writeFileSync(join(folder, "deep/b.txt"), "123")
  writeFileSync(join(folder, "deep/er/c.txt"), "1")
  symlinkSync("/", join(folder, "deep/root"))
  const sizes = await fileSizes(
    {
      list: [
        { kind: "write", what: "a.txt" },
        { kind: "write", what: "deep" },
        { kind: "write", what: "missing" },
        { kind: "read", what: "deep/b.txt" },
      ],
      proved: true,
    },
    folder,
  )
  expect(sizes).toEqual({ "a.txt": { files: 1, bytes: 5 }, deep: { files: 3, bytes: 5 } })
})

test("a folder with very many files is left out", async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, "many"))
  for (let n = 0; n <= 1000; n++) writeFileSync(join(folder, "many", `${n}`), "")
  expect(await fileSizes({ list: [{ kind: "write", what: "many" }], proved: true }, folder)).toEqual({})
})
