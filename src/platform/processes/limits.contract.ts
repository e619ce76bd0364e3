import { statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { until } from "../../testing/test-app.ts"
import { countProcesses, openTestProcesses, uniqueSeconds } from "./testing.ts"

const ann = { agentId: "ann" }
const memory = { limit: "memoryMb", most: 60 }
const processes = { limit: "processes", most: 20 }
/** Small, so that they are reached soon. */
export const smallLimits = { memoryMb: 60, processes: 20, fileMb: 1, tmpMb: 1 }

/** Each is bounded: if it is not ended, it ends by itself or sleeps. */
const eaters: [string, (seconds: string) => string, object][] = [
  ["reads without end into a variable", (s) => `a=$(yes ${s})`, memory],
  ["lets several grow that are small alone", (s) => `for i in 1 2 3; do (a=$(head -c 30000000 /dev/zero | tr '\\0' x); sleep ${s}) & done; wait`, memory],
  ["grows in a session of its own", (s) => `setsid --wait bash -c 'a=$(head -c 90000000 /dev/zero | tr "\\0" x); sleep ${s}'`, memory],
  ["starts two that each start two", (s) => `f() { (($1 < 7)) || exec sleep ${s}; f $(($1 + 1)) & f $(($1 + 1)) & wait; }; f 0`, processes],
  ["ignores TERM", (s) => `trap '' TERM; for i in {1..60}; do sleep ${s} & done; while true; do wait; done`, processes],
  ["never fetches what has ended", (s) => `python3 -c 'import os, time
for i in range(60): os.fork() or os._exit(0)
time.sleep(${s})'`, processes],
  ["starts threads", (s) => `python3 -c 'import threading, time
for i in range(400): threading.Thread(target=time.sleep, args=(${s},), daemon=True).start()
time.sleep(${s})'`, processes],
] // prettier-ignore

/** The contract of commands with and without a sandbox. */
export function describeLimits(sandbox: "off" | "auto"): void {
  test.each(eaters)(
    `with sandbox ${sandbox} a command that %s is ended with everything it started`,
    async (_, command, limit) => {
      const { processes, workspace } = openTestProcesses({ sandbox, limits: smallLimits, graceMs: 60_000 })
      const seconds = uniqueSeconds()
      const result = await processes.run({ command: command(seconds), timeoutMs: 45_000 }, {})
      expect(result).toMatchObject({ timedOut: false, exceeded: limit })
      expect(countProcesses(seconds)).toBe(0)
      expect(await processes.run({ command: `cd ${workspace} && echo still here` }, {})).toMatchObject({ stdout: "still here\n" }) // prettier-ignore
    },
  )

  test(`with sandbox ${sandbox} a background command is ended too, and says why`, async () => {
    const { processes } = openTestProcesses({ sandbox, limits: smallLimits })
    const { id } = await processes.start({ command: "echo begun; for i in {1..60}; do sleep 60 & done; wait" }, ann)
    await until(() => processes.list(ann)[0]?.status !== "running", "it was ended")
    const sentence = "The command had more than 20 processes at once, so it was ended (16 threads count as one process). Start fewer, or ask a person to raise tools.shell.limits.processes." // prettier-ignore
    const output = { status: "failed", exceeded: sentence, stdout: "begun\n", stderr: `[${sentence}]\n` }
    expect(await processes.output(id, ann)).toMatchObject(output)
  })

  test(`with sandbox ${sandbox} no file grows beyond its limit, whatever process writes it`, async () => {
    const { processes, workspace } = openTestProcesses({ sandbox, limits: smallLimits })
    const notice = "[No file may become larger than 1 MB here. Write less, or ask a person to raise tools.shell.limits.fileMb.]\n" // prettier-ignore
    const scripts = [
      "dd if=/dev/zero of=big bs=300K count=10 2>/dev/null",
      "(head -c 3000000 /dev/zero > big); echo over",
      'ulimit -f unlimited 2>/dev/null; python3 -c \'open("big", "wb").write(bytes(3000000))\'',
    ]
    for (const command of sandbox === "off" ? scripts.slice(0, 2) : scripts) {
      const { stderr } = await processes.run({ command }, {})
      expect(stderr.endsWith(notice), command).toBe(true)
      expect(statSync(join(workspace, "big")).size).toBe(1024 * 1024)
    }
    writeFileSync(join(workspace, "early.sh"), "head -c 3000000 /dev/zero >> early")
    await processes.run({ command: "true", environment: { BASH_ENV: "early.sh" } }, {})
    expect(statSync(join(workspace, "early")).size).toBe(1024 * 1024)
    const fine = await processes.run({ command: "head -c 1048576 /dev/zero > big && cat big | wc -c; ls core*" }, {})
    expect(fine).toMatchObject({ stdout: "1048576\n", exitCode: 2 })
    expect(fine.stderr).not.toContain("tools.shell.limits")
  })
}
