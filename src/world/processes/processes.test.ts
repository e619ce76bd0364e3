import { expect, test } from "vitest"
import { until } from "../../testing/open.ts"
import { describeProcesses } from "./processes.contract.ts"
import { openHere } from "./testing.ts"

const ann = { agentId: "ann" }

describeProcesses("off")

test("an agent has at most 32 background commands, and what is not read is bounded and counted", async () => {
  const { processes } = openHere()
  const noisy = await processes.start(
    { command: "yes 0123456789 | head -c 5000000; printf '%s\\n' '' 0123456789 the-end" },
    ann,
  )
  await until(() => processes.list(ann)[0]?.status === "completed", "it ended")
  const { stdout, dropped } = await processes.output(noisy.id, ann)
  expect(stdout.length).toBeLessThan(1_100_000)
  expect(stdout.endsWith("0123456789\nthe-end\n")).toBe(true)
  expect(dropped + stdout.length).toBeGreaterThanOrEqual(5_000_000)
  expect(stdout.startsWith(`[${dropped} characters were not kept]\n`)).toBe(true)
  for (let count = 0; count < 32; count++) await processes.start({ command: "sleep 60" }, ann)
  await expect(processes.start({ command: "true" }, ann)).rejects.toMatchObject({ toolCode: "too_many_commands" })
  await processes.start({ command: "true" }, { agentId: "bob" })
})

test("a variable that is ours, or none, is refused", async () => {
  const { processes } = openHere()
  for (const name of ["QM_INSIDE", "QM_PERSON_TOKEN", "QUARTERMASTER_DATA", "A=B", "BASH_FUNC_ls%%", ""]) {
    await expect(processes.run({ command: "true", environment: { [name]: "x" } }, {})).rejects.toMatchObject({
      toolCode: "bad_environment",
    })
  }
  await expect(processes.run({ command: "true", environment: { A: "x\0y" } }, {})).rejects.toThrow("NUL")
  await expect(processes.run({ command: "true\0" }, {})).rejects.toThrow("NUL")
})

test("without a sandbox the layer says why", () => {
  expect(openHere().processes.layer(false)).toEqual({
    kind: "none",
    because: "tools.shell.sandbox is off",
    network: true,
  })
})
