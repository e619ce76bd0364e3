import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import fc from "fast-check"
import { afterAll, expect, test } from "vitest"
import { readGitConfig } from "./git-config.ts"

const folder = mkdtempSync(join(tmpdir(), "quartermaster-git-config-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pieces = ["[core]", "[Core]", '[a "b"]', '[a "B.c\\"]"]', "[c.d]", "[a", "]", '"', "\\", "\\\n", "\\n", "\n", "\n", "\r\n", "\r", " ", "\t", "=", " = ", "x", "Y", "k-1", "1", "#", ";", "::", "true", "é", "\uFEFF", "\u00a0", "\u0000", "\f", "x = ", "\ny=", '"a b"', "[include]"] // prettier-ignore

/** Older versions make a space of every blank. */
const spaced = (value: string) => value.replaceAll(/\s/g, " ").trim()

test("readGitConfig reads a configuration exactly like real git", () => {
  let read = 0
  const file = join(folder, "config")
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
      const text = `[core]\n${parts.join("")}`
      const settings = readGitConfig(text)
      if (settings === undefined) return
      read++
      writeFileSync(file, text)
      const { stdout, status } = spawnSync("git", ["config", "-z", "--list", "-f", file], { encoding: "utf8" })
      const listed = stdout.split("\0").filter((one) => one !== "").map((one) => one.split("\n")) // prettier-ignore
      expect(status, JSON.stringify(text)).toBe(0)
      const told = listed.map(([key, ...value]) => ({
        key: key!.replace(/^a\..*\./s, "a.*."),
        value: spaced(value.length === 0 ? "true" : value.join("\n")),
      }))
      expect(
        settings.map(({ key, value }) => ({ key, value: spaced(value) })),
        JSON.stringify(text),
      ).toEqual(told)
    }),
    { numRuns: 1000 },
  )
  expect(read).toBeGreaterThan(150)
})
