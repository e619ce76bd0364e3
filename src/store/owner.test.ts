import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { hostname } from "node:os"
import { createInterface } from "node:readline"
import { expect, onTestFinished, test } from "vitest"
import { until } from "../testing/open.ts"
import { ownerLives, ownerName } from "./owner.ts"

const hasProc = existsSync("/proc/self/stat")
const began = (owner: string) => owner.split("|")[2]!

test("this process lives, and each of its names is another one", () => {
  expect(ownerLives(ownerName())).toBe(true)
  expect(ownerName()).not.toBe(ownerName())
})

test("a process that has ended is dead", async () => {
  const child = spawn(process.execPath, ["-e", ""])
  await once(child, "exit")
  expect(ownerLives(`${hostname()}|${child.pid}||x`)).toBe(false)
  expect(ownerLives(`${hostname()}|${child.pid}|12345|x`)).toBe(false)
})

test("another process lives until it is killed", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"])
  onTestFinished(() => void child.kill("SIGKILL"))
  const owner = `${hostname()}|${child.pid}||x`
  expect(ownerLives(owner)).toBe(true)
  child.kill("SIGKILL")
  await once(child, "exit")
  expect(ownerLives(owner)).toBe(false)
})

test.skipIf(!hasProc)("a process that got the pid of a dead one is not taken for it", () => {
  const owner = `${hostname()}|${process.pid}|${Number(began(ownerName())) + 1}|x`
  expect(ownerLives(owner)).toBe(false)
})

test.skipIf(!hasProc)("a process that has ended but was never waited for is dead", async () => {
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"])
  onTestFinished(() => void parent.kill("SIGKILL"))
  const [pid] = (await once(createInterface(parent.stdout), "line")) as [string]
  // A shell would wait for its child; what takes the shell's place does not.
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, "latin1") === "sleep\n", "the shell was replaced")
  process.kill(Number(pid), "SIGKILL")
  await until(
    () => readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z "),
    "the child had ended and was still listed",
  )
  expect(ownerLives(`${hostname()}|${pid}||x`)).toBe(false)
})

test.skipIf(process.getuid?.() !== 0)("a process of another user lives though it cannot be signalled", () => {
  const script = `
    import { ownerLives } from ${JSON.stringify(new URL("../../dist/store/owner.js", import.meta.url).href)}
    process.setuid(65534)
    process.stdout.write(String(ownerLives(process.argv[1])))`
  const owner = `${hostname()}|${process.pid}|${began(ownerName())}|x`
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script, owner], { encoding: "utf8" })
  expect(stdout).toBe("true")
})

test("a process on another host counts as alive, and nobody counts as dead", () => {
  expect(ownerLives(`not-${hostname()}|1||x`)).toBe(true)
  expect(ownerLives("")).toBe(false)
  expect(ownerLives(`${hostname()}|not a pid||x`)).toBe(false)
})
