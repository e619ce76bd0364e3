import { spawn } from "node:child_process"
import { mkdirSync, realpathSync, writeFileSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openFolderReader } from "./folder-reader.ts"

/** A process that swaps a folder for a link to the outside, and a file for a link, as fast as it can. */
const swapping = `
const { renameSync, symlinkSync, mkdirSync, rmSync } = require("node:fs")
const [root, outside] = process.argv.slice(1)
symlinkSync(outside, root + "/link")
symlinkSync(outside + "/a.ts", root + "/filelink")
process.stdout.write("ready")
for (;;) {
  try { renameSync(root + "/src", root + "/kept"); renameSync(root + "/link", root + "/src") } catch {}
  try { renameSync(root + "/src", root + "/link"); renameSync(root + "/kept", root + "/src") } catch {}
}`

test("while a process swaps a folder for a link, nothing outside is ever read or listed", async () => {
  const root = realpathSync(temporaryFolder())
  const outside = realpathSync(temporaryFolder())
  mkdirSync(join(root, "src"))
  writeFileSync(join(root, "src/a.ts"), "inside")
  writeFileSync(join(outside, "a.ts"), "OUTSIDE")
  writeFileSync(join(outside, "secret.ts"), "OUTSIDE")
  const child = spawn(process.execPath, ["-e", swapping, root, outside], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  await new Promise((resolve) => child.stdout.once("data", resolve))
  const counts = { read: 0, listed: 0, refused: 0, naive: 0 }
  const began = Date.now()
  const isEnough = () => counts.naive > 0 && counts.read > 0 && counts.refused > 0
  // On a busy machine it takes longer until both sides of the race have happened.
  while (Date.now() - began < 4000 || (!isEnough() && Date.now() - began < 60_000)) {
    const reader = openFolderReader(root)
    const read = reader.read("src/a.ts", 1000)?.bytes.toString()
    expect(read ?? "inside").toBe("inside")
    const names = reader.list("src")?.map(({ name }) => name)
    expect(names ?? []).not.toContain("secret.ts")
    reader.close()
    counts[read === undefined ? "refused" : "read"]++
    if (names !== undefined) counts.listed++
    try {
      if (readFileSync(join(root, "src/a.ts"), "utf8") === "OUTSIDE") counts.naive++
    } catch {
      // Nothing is there at this moment.
    }
  }
  // The attack is real: a plain read would have followed the link.
  expect(isEnough(), JSON.stringify(counts)).toBe(true)
})
