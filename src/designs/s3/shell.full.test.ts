import { expect, onTestFinished, test } from "vitest"
import { ShellExecTool, ToolManager } from "./index.ts"
import { projectFolder, workingFolder } from "../testing.ts"

const approve = () => true

test("shell_exec runs what a person approved and returns S3's fields; a dangerous command never runs", async () => {
  const manager = new ToolManager({ enabled: ["shell_exec"], workspaceDir: await projectFolder() })
  onTestFinished(() => manager.close())
  const call = (command: string, context = {}) =>
    manager.execute({ name: "shell_exec", arguments: { command } }, context)
  expect(await call("echo hi")).toMatchObject({ success: false })
  expect(await call("echo hi", { approve })).toMatchObject({
    data: { command: "echo hi", stdout: "hi\n", stderr: "", exitCode: 0 },
  })
  for (const command of ["rm -rf /", ":(){ :|:& };:", "mkfs /dev/sda", "dd if=/dev/zero of=/dev/sda"])
    expect(await call(command, { approve }), command).toMatchObject({
      success: false,
      error: expect.stringContaining("Command execution failed: Dangerous command detected and blocked") as string,
    })
})

test("a shell tool executed on its own is asked about too", async () => {
  await workingFolder()
  const shell = new ShellExecTool()
  expect(await shell.execute({ command: "echo x" })).toMatchObject({ success: false })
  expect(await shell.execute({ command: "echo x" }, { approve })).toMatchObject({ data: { stdout: "x\n" } })
})
