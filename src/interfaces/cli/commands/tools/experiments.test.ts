import { expect, test } from "vitest"
import type { Experiment, Experiments, ExperimentReport } from "../../../../registry/experiment.ts"
import { runWithApp } from "../../testing.ts"

const running: Experiment = { name: "bake-2", tool: "bake", versions: ["1.0.0", "2.0.0"], share: 0.25, source: "store", state: "running", startedAt: 0, startedBy: "ann" } // prettier-ignore
const written: Experiment = { name: "brew", tool: "brew", versions: ["1", "2"], share: 0.5, source: "configuration", state: "running", problem: "There is no tool 'brew'." } // prettier-ignore
const arm = { agents: 3, calls: 10, failures: 1, refused: 2, averageMs: 4.25, medianMs: 4, slowestMs: 9 }
const none = { agents: 0, calls: 0, failures: 0, refused: 0, averageMs: null, medianMs: null, slowestMs: null }

function houseWith(list: readonly Experiment[]) {
  const received: unknown[] = []
  const experiments: Partial<Experiments> = {
    list: () => list,
    start: (given, by) => {
      received.push(["start", given, by])
      if (given.tool === "none") return Promise.reject(new Error("There is no tool 'none'."))
      return Promise.resolve({ ...running, ...given, share: given.share ?? 0.5 })
    },
    stop: (name, by) => {
      received.push(["stop", name, by])
      return Promise.resolve(name === "bake-2" ? { ...running, state: "stopped" } : undefined)
    },
    show: (name, filter) => {
      received.push(["show", name, filter])
      const report: ExperimentReport = { ...running, arms: [{ version: "1.0.0", ...arm }, { version: "2.0.0", ...none }], otherwise: 4 } // prettier-ignore
      return Promise.resolve(name === "bake-2" ? report : undefined)
    },
  }
  return { received, run: (...words: string[]) => runWithApp({ experiments }, words) }
}

test("experiments are listed with who started them and what is wrong", async () => {
  const { run } = houseWith([running, written])
  const { stdout } = await run("experiments")
  expect(stdout).toMatch(/bake-2 +running +bake +1\.0\.0, 2\.0\.0 +0\.25 +\S+ \S+ +ann +-\n/)
  expect(stdout).toMatch(/brew +running +brew +1, 2 +0\.5 +- +configuration +There is no/)
  expect((await houseWith([]).run("experiments")).stderr).toMatch(/^There is no experiment\./)
})

test("a person starts one and stops it", async () => {
  const { run, received } = houseWith([running])
  const started = await run("experiments", "start", "new", "--tool", "bake", "--versions", "1.0.0,2.0.0", "--share", "0.1") // prettier-ignore
  expect(started.stdout).toMatch(/^Started: 10 % of agents get bake@2\.0\.0, the others bake@1\.0\.0\./)
  expect((await run("--as", "eve", "experiments", "stop", "bake-2")).stdout).toMatch(
    /^Stopped: bake has its usual version/,
  )
  expect(received).toEqual([
    ["start", { name: "new", tool: "bake", versions: ["1.0.0", "2.0.0"], share: 0.1 }, "ada"],
    ["stop", "bake-2", "eve"],
  ])
  expect(await run("experiments", "stop", "bake")).toMatchObject({ code: 1, stderr: "There is no experiment 'bake'. Did you mean 'bake-2'?\n" }) // prettier-ignore
  expect(await run("experiments", "start", "x", "--tool", "none", "--versions", "1,2")).toMatchObject({ code: 1, stderr: "There is no tool 'none'.\n" }) // prettier-ignore
})

test.each([
  ["one version", ["--versions", "1.0.0"], "--versions takes two versions"],
  ["three versions", ["--versions", "1,2,3"], "--versions takes two versions"],
  ["a share that is no number", ["--versions", "1,2", "--share", "half"], "--share takes a number"],
])("%s is wrong usage", async (_, words, sentence) => {
  const { code, stderr } = await houseWith([]).run("experiments", "start", "x", "--tool", "bake", ...words)
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence) as string])
})

test("both versions are shown beside each other, and what is not counted", async () => {
  const { run, received } = houseWith([running])
  const { stdout } = await run("experiments", "show", "bake-2", "--since", "2026-01-01T00:00Z")
  expect(stdout).toMatch(/1\.0\.0 +0\.75 +3 +10 +1 \(10\.0 %\) +2 +4\.3 +4\.0 +9\.0/)
  expect(stdout).toMatch(/2\.0\.0 +0\.25 +0 +0 +0 +0 +- +- +-/)
  expect(stdout).toContain("Not counted: 4 calls")
  expect(received).toEqual([["show", "bake-2", { since: Date.UTC(2026, 0, 1) }]])
  expect(JSON.parse((await run("experiments", "show", "bake-2", "--json")).stdout)).toMatchObject({ otherwise: 4 })
  expect(await run("experiments", "show", "nothing")).toMatchObject({ code: 1 })
})
