import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import { expect, onTestFinished, test } from "vitest"
import { repositoryFault } from "./new-repository.ts"
import { realFolder } from "./testing.ts"

/** Puts a pipe in the place of the settings and takes it away again, without end. Whoever waits at the pipe gets a text. */
const swapping = `
const { closeSync, constants, openSync, renameSync, writeSync } = require("node:fs")
const { folder } = require("node:worker_threads").workerData
const at = (name) => folder + "/" + name
for (;;) {
  renameSync(at(".git/config"), at("kept"))
  renameSync(at("pipe"), at(".git/config"))
  try {
    const pipe = openSync(at(".git/config"), constants.O_WRONLY | constants.O_NONBLOCK)
    try { writeSync(pipe, "[core]\\n\\tfrom = pipe\\n") } catch {}
    closeSync(pipe)
  } catch {}
  renameSync(at(".git/config"), at("pipe"))
  renameSync(at("kept"), at(".git/config"))
}`

test("a pipe that is put in the place of a repository's settings while they are looked at is never read", async () => {
  const folder = realFolder()
  mkdirSync(join(folder, ".git"))
  writeFileSync(join(folder, ".git/config"), "[core]\n\tbare = false\n")
  execFileSync("mkfifo", [join(folder, "pipe")])
  const worker = new Worker(swapping, { eval: true, workerData: { folder } })
  onTestFinished(async () => void (await worker.terminate()))
  await new Promise((done) => worker.once("online", done))
  const faults = new Set<string | undefined>()
  for (let count = 0; count < 40_000; count++) faults.add(repositoryFault(join(folder, ".git")))
  expect(faults).not.toContain("its config says 'from = pipe'")
  // Both were looked at, so they were swapped in time.
  expect(faults).toContain("config is no plain file or folder")
  expect(faults).toContain(undefined)
})
