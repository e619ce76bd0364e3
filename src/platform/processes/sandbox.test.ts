import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { findBubblewrap } from "../../testing/shell-app.ts"
import { ProtectedMounts } from "./protected-mounts.ts"
import { fakeFiles, openTestProcesses, realTemporaryFolder } from "./testing.ts"

const bubblewrap = findBubblewrap()
const inSandbox = test.skipIf("why" in bubblewrap)

inSandbox("a command runs in the sandbox, and the result says so", async () => {
  const { processes } = openTestProcesses({ sandbox: "required" })
  expect(processes.layer(false)).toEqual({ kind: "bubblewrap", network: false })
  expect(processes.layer(true)).toEqual({ kind: "bubblewrap", network: true })
  const { stdout, sandbox } = await processes.run(
    { command: "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status" },
    {},
  )
  expect(stdout.split(/\s+/).slice(0, 6)).toEqual(["CapEff:", "0000000000000000", "NoNewPrivs:", "1", "Seccomp:", "2"])
  expect(sandbox).toEqual({ kind: "bubblewrap", network: false })
})

inSandbox("node and git work in the sandbox, and created files stay", async () => {
  const { processes, workspace } = openTestProcesses({ sandbox: "required" })
  execFileSync("git", ["init", "-q", workspace])
  const command = `set -e
    node -e 'require("fs").writeFileSync("made", String(6 * 7))'
    git -c user.name=a -c user.email=a@b.c add made && git -c user.name=a -c user.email=a@b.c commit -qm one
    git log --format=%s; echo x > ~/in-home; echo x > /tmp/in-tmp`
  expect(await processes.run({ command }, {})).toMatchObject({ stdout: "one\n", stderr: "", exitCode: 0 })
  expect(readFileSync(join(workspace, "made"), "utf8")).toBe("42")
  expect(existsSync("/tmp/in-tmp")).toBe(false)
})

inSandbox("hidden paths and paths outside the workspace are absent", async () => {
  const workspace = realTemporaryFolder()
  const outside = realTemporaryFolder()
  writeFileSync(join(outside, "secret"), "theirs")
  mkdirSync(join(workspace, ".quartermaster"))
  writeFileSync(join(workspace, ".quartermaster/record.key"), "ours")
  writeFileSync(join(workspace, "quartermaster.yml"), "ours")
  symlinkSync(outside, join(workspace, "link"))
  const hidden = [join(workspace, ".quartermaster"), join(workspace, "quartermaster.yml")]
  const { processes } = openTestProcesses({ sandbox: "required", files: fakeFiles(workspace), hidden })
  const command =
    "cat .quartermaster/* quartermaster.yml link/secret; ls -A .quartermaster; mv .quartermaster x; rm -r .quartermaster; true"
  const { stdout } = await processes.run({ command }, {})
  expect(stdout).toBe("")
  expect(readFileSync(join(workspace, ".quartermaster/record.key"), "utf8")).toBe("ours")
})

test("without a required sandbox nothing runs, and the error says how to install it", async () => {
  const { processes, workspace } = openTestProcesses({
    sandbox: "required",
    findSandbox: () => ({ because: "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)" }),
  })
  await expect(processes.run({ command: "touch ran" }, {})).rejects.toMatchObject({
    toolCode: "sandbox_missing",
    message:
      "Commands run only in the sandbox here (tools.shell.sandbox: required), and there is none: bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap). Ask a person to set it up (qm doctor says how).",
  })
  expect(() => processes.layer(false)).toThrow("required")
  expect(readdirSync(workspace)).toEqual([])
})

test("with auto and no sandbox a command runs, and `layer` says why it is not sandboxed", async () => {
  const { processes } = openTestProcesses({ sandbox: "auto", findSandbox: () => ({ because: "of a test" }) })
  expect(await processes.run({ command: "true" }, {})).toMatchObject({
    exitCode: 0,
    sandbox: { kind: "none", because: "of a test", network: true },
  })
})

inSandbox("a placeholder is never created through a link", () => {
  const [workspace, outside] = [realTemporaryFolder(), realTemporaryFolder()]
  mkdirSync(join(workspace, "sub"))
  const swapped = {
    path: join(workspace, "sub/rules.yml"),
    // Read after the check of the path and before the placeholder is created.
    get placeholder(): undefined {
      if (existsSync(join(workspace, "was"))) return undefined
      renameSync(join(workspace, "sub"), join(workspace, "was"))
      symlinkSync(outside, join(workspace, "sub"))
      return undefined
    },
  }
  const first = { path: join(workspace, "first.yml") }
  const prepare = () =>
    new ProtectedMounts().prepare([first, swapped], [], { writable: [workspace], visible: [workspace] })
  expect(prepare).toThrow("The workspace was changed while the sandbox was being set up. Run the command again.")
  expect([...readdirSync(outside), ...readdirSync(join(workspace, "was"))]).toEqual([])
  expect(readdirSync(workspace).toSorted()).toEqual(["sub", "was"])
})
