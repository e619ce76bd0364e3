import { expect, test } from "vitest"
import { makeCli } from "./testing.ts"

test("the tour works as it is printed, from an empty folder to the end", async () => {
  const { run } = makeCli()
  const { code, stdout } = await run("start")
  expect(code).toBe(0)
  const tour = [...stdout.matchAll(/^ {2}qm (\S.*?) {2,}\S/gm)].map(([, command = ""]) => command)
  expect(tour.length).toBeGreaterThan(10)
  for (const command of tour) {
    const asks = command.startsWith("call set_env")
    const ended = await run(...command.split(" "), ...(asks ? ["--wait", "0"] : []))
    expect({ command, code: ended.code }, ended.stderr).toEqual({ command, code: asks ? 4 : 0 })
    expect(ended.stdout === "", command).toBe(asks)
    if (command.startsWith("why")) expect(ended.stdout).toMatch(/^Agent dev may call set_env after a person/)
    if (command === "approvals list") expect(ended.stdout).toMatch(/ call +dev +set_env /)
  }
})
