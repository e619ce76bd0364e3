import { expect, test } from "vitest"
import { describeProcesses } from "./processes.contract.ts"
import { openTestProcesses } from "./testing.ts"

describeProcesses("off")

test("one of our own variables and an invalid name are refused", async () => {
  const { processes } = openTestProcesses()
  for (const name of ["QM_INSIDE", "QM_PERSON_TOKEN", "QUARTERMASTER_DATA", "A=B", "BASH_FUNC_ls%%", ""]) {
    await expect(processes.run({ command: "true", environment: { [name]: "x" } }, {})).rejects.toMatchObject({
      toolCode: "bad_environment",
    })
  }
  await expect(processes.run({ command: "true", environment: { A: "x\0y" } }, {})).rejects.toThrow("NUL")
  await expect(processes.run({ command: "true\0" }, {})).rejects.toThrow("NUL")
})

test("without a sandbox `layer` says why", () => {
  expect(openTestProcesses().processes.layer(false)).toEqual({
    kind: "none",
    because: "tools.shell.sandbox is off",
    network: true,
  })
})
