import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, readFileSync } from "node:fs"
import { hostname } from "node:os"
import { createInterface } from "node:readline"
import { expect, onTestFinished, test } from "vitest"
import { until } from "../../testing/test-app.ts"
import { isOwnerAlive, newOwnerName } from "./owner.ts"

const hasProc = existsSync("/proc/self/stat")
const began = (owner: string) => owner.split("|")[2]!

test("this process is alive, and each of its names is different", () => {
  expect(isOwnerAlive(newOwnerName())).toBe(true)
  expect(newOwnerName()).not.toBe(newOwnerName())
})

test("a process that has ended is dead", async () => {
  const child = spawn(process.execPath, ["-e", ""])
  await once(child, "exit")
  expect(isOwnerAlive(`${hostname()}|${child.pid}||x`)).toBe(false)
  expect(isOwnerAlive(`${hostname()}|${child.pid}|12345|x`)).toBe(false)
})

test("another process is alive until it is killed", async () => {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"])
  onTestFinished(() => void child.kill("SIGKILL"))
  const owner = `${hostname()}|${child.pid}||x`
  expect(isOwnerAlive(owner)).toBe(true)
  child.kill("SIGKILL")
  await once(child, "exit")
  expect(isOwnerAlive(owner)).toBe(false)
})

test.skipIf(!hasProc)("a process that reuses the pid of a dead one is a different process", () => {
  const owner = `${hostname()}|${process.pid}|${Number(began(newOwnerName())) + 1}|x`
  expect(isOwnerAlive(owner)).toBe(false)
})

test.skipIf(!hasProc)("a process that has ended but was never waited for is dead", async () => {
  const parent = spawn("sh", ["-c", "sleep 60 & echo $!; exec sleep 60"])
  onTestFinished(() => void parent.kill("SIGKILL"))
  const [pid] = (await once(createInterface(parent.stdout), "line")) as [string]
  // A shell would wait for its child; the program that replaces it does not.
  await until(() => readFileSync(`/proc/${parent.pid}/comm`, "latin1") === "sleep\n", "the shell was replaced")
  process.kill(Number(pid), "SIGKILL")
  await until(
    () => readFileSync(`/proc/${pid}/stat`, "latin1").includes(") Z "),
    "the child had ended and was still listed",
  )
  expect(isOwnerAlive(`${hostname()}|${pid}||x`)).toBe(false)
})

test.skipIf(process.getuid?.() !== 0)("a process of another user is alive although it cannot be signalled", () => {
  const script = `
    import { isOwnerAlive } from ${JSON.stringify(new URL("../../../build/store/sqlite/owner.js", import.meta.url).href)}
    process.setuid(65534)
    process.stdout.write(String(isOwnerAlive(process.argv[1])))`
  const owner = `${hostname()}|${process.pid}|${began(newOwnerName())}|x`
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script, owner], { encoding: "utf8" })
  expect(stdout).toBe("true")
})

test("a process on another host counts as alive, and an empty owner as dead", () => {
  expect(isOwnerAlive(`not-${hostname()}|1||x`)).toBe(true)
  expect(isOwnerAlive("")).toBe(false)
  expect(isOwnerAlive(`${hostname()}|not a pid||x`)).toBe(false)
})
