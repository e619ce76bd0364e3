import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { findBubblewrap } from "../../testing/shell.ts"
import { fence, openHere, realFolder } from "./testing.ts"

const bubblewrap = findBubblewrap()
const inSandbox = test.skipIf("why" in bubblewrap)

inSandbox("the sandbox holds a command, and says so", async () => {
  const { processes } = openHere({ sandbox: "required" })
  expect(processes.layer(false)).toEqual({ kind: "bubblewrap", network: false })
  expect(processes.layer(true)).toEqual({ kind: "bubblewrap", network: true })
  const { stdout, sandbox } = await processes.run(
    { command: "grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status" },
    {},
  )
  expect(stdout.split(/\s+/).slice(0, 6)).toEqual(["CapEff:", "0000000000000000", "NoNewPrivs:", "1", "Seccomp:", "2"])
  expect(sandbox).toEqual({ kind: "bubblewrap", network: false })
})

inSandbox("node and git work inside, and files made there stay", async () => {
  const { processes, workspace } = openHere({ sandbox: "required" })
  execFileSync("git", ["init", "-q", workspace])
  const command = `set -e
    node -e 'require("fs").writeFileSync("made", String(6 * 7))'
    git -c user.name=a -c user.email=a@b.c add made && git -c user.name=a -c user.email=a@b.c commit -qm one
    git log --format=%s; echo x > ~/in-home; echo x > /tmp/in-tmp`
  expect(await processes.run({ command }, {})).toMatchObject({ stdout: "one\n", stderr: "", exitCode: 0 })
  expect(readFileSync(join(workspace, "made"), "utf8")).toBe("42")
  expect(existsSync("/tmp/in-tmp")).toBe(false)
})

inSandbox(
  "what is sealed cannot be written, moved away or made, and what was not there is not there afterwards",
  async () => {
    const workspace = realFolder()
    const files = fence(workspace)
    mkdirSync(join(workspace, "deep/down"), { recursive: true })
    writeFileSync(join(workspace, "deep/down/rules.yml"), "mine")
    for (const folder of [".git", ".ssh"]) mkdirSync(join(workspace, folder))
    for (const file of [".npmrc", ".ssh/key"]) writeFileSync(join(workspace, file), "mine")
    const sealed = [
      { path: join(workspace, "deep/down/rules.yml") },
      { path: join(workspace, "deep/absent.yml") },
      { path: join(workspace, ".editor/settings.json") },
      { path: join(workspace, ".absent/") },
    ]
    const { processes } = openHere({ sandbox: "required", files, sealed })
    const attempts = [
      "echo bad > deep/down/rules.yml",
      "rm -f deep/down/rules.yml",
      "mv deep/down deep/away && mkdir deep/down && echo bad > deep/down/rules.yml",
      "mv deep away && mkdir -p deep/down && echo bad > deep/down/rules.yml",
      "echo bad > deep/absent.yml",
      "ln -sf /etc/passwd deep/absent.yml",
      "mkdir -p .editor && echo bad > .editor/settings.json",
      "mkdir -p .absent && echo bad > .absent/file",
      "mkdir -p .git/hooks && echo bad > .git/hooks/post-checkout",
      "git config core.fsmonitor bad",
      "echo bad > .git/config",
      "echo ../bad > .git/commondir",
      "rm -rf .git; mv .git away; mkdir .git && echo bad > .git/config",
      "echo bad > .npmrc",
      "mkdir -p .claude && echo bad > .claude/settings.json",
      "cat .ssh/key",
    ]
    const done = await Promise.all(
      attempts.map(async (command) => ({ command, exitCode: (await processes.run({ command }, {})).exitCode })),
    )
    expect(done.filter(({ exitCode }) => exitCode === 0)).toEqual([])
    expect((await processes.run({ command: "cat deep/down/rules.yml; echo free > deep/down/free" }, {})).stdout).toBe(
      "mine",
    )
    expect(readdirSync(workspace, { recursive: true }).toSorted()).toEqual([
      ".git",
      ".npmrc",
      ".ssh",
      ".ssh/key",
      "deep",
      "deep/down",
      "deep/down/free",
      "deep/down/rules.yml",
    ])
  },
)

inSandbox("commands that run together hold what is absent until the last of them has ended", async () => {
  const { processes, workspace } = openHere({ sandbox: "required" })
  const attack = "mkdir -p .git && echo bad > .git/config"
  const results = await Promise.all([
    processes.run({ command: "sleep 0.1" }, {}),
    processes.run({ command: `sleep 0.3; ${attack}` }, {}),
    processes.run({ command: attack }, {}),
  ])
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 1, 1])
  expect(readdirSync(workspace)).toEqual([])
})

inSandbox("what is hidden is not there, and what is not in the workspace neither", async () => {
  const workspace = realFolder()
  const outside = realFolder()
  writeFileSync(join(outside, "secret"), "theirs")
  mkdirSync(join(workspace, ".quartermaster"))
  writeFileSync(join(workspace, ".quartermaster/record.key"), "ours")
  writeFileSync(join(workspace, "quartermaster.yml"), "ours")
  symlinkSync(outside, join(workspace, "link"))
  const hidden = [join(workspace, ".quartermaster"), join(workspace, "quartermaster.yml")]
  const { processes } = openHere({ sandbox: "required", files: fence(workspace), hidden })
  const command =
    "cat .quartermaster/* quartermaster.yml link/secret; ls -A .quartermaster; mv .quartermaster x; rm -r .quartermaster; true"
  const { stdout } = await processes.run({ command }, {})
  expect(stdout).toBe("")
  expect(readFileSync(join(workspace, ".quartermaster/record.key"), "utf8")).toBe("ours")
})

inSandbox("further roots are writable, and a call that is narrowed sees its own places only", async () => {
  const workspace = realFolder()
  const root = realFolder()
  mkdirSync(join(workspace, "docs"))
  writeFileSync(join(workspace, "plan"), "x")
  const { processes } = openHere({ sandbox: "required", files: fence(workspace), roots: [root, join(root, "gone")] })
  expect(await processes.run({ command: `echo yes > ${root}/made && cat plan` }, {})).toMatchObject({ stdout: "x" })
  expect(readFileSync(join(root, "made"), "utf8")).toBe("yes\n")
  const narrow = { cwd: "docs", allowedPaths: ["docs"] }
  const command = `echo yes > made; ls ..; cat ../plan ${root}/made`
  expect(await processes.run({ command, ...narrow }, {})).toMatchObject({ stdout: "docs\n" })
  expect(readFileSync(join(workspace, "docs/made"), "utf8")).toBe("yes\n")
  await expect(processes.run({ command: "true", allowedPaths: ["docs"] }, {})).rejects.toMatchObject({
    toolCode: "outside",
  })
})

inSandbox("variables of a call reach the command and never bubblewrap, nor the list of processes", async () => {
  const { processes } = openHere({ sandbox: "required" })
  const command = 'echo "$SPOKEN"; tr "\\0" " " < /proc/1/cmdline; tr "\\0" " " < /proc/1/environ'
  const { stdout } = await processes.run({ command, environment: { LD_PRELOAD: "", SPOKEN: "quietly" } }, {})
  expect(stdout).toMatch(/^quietly\n.*bwrap .* QUARTERMASTER_COMMAND=/)
  expect(stdout.split("\n").slice(1).join("")).not.toMatch(/quietly|LD_PRELOAD|--setenv|HOME=/)
})

test("a sandbox that is required and absent runs nothing and says how to get it", async () => {
  const { processes, workspace } = openHere({
    sandbox: "required",
    findSandbox: () => ({ because: "bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap)" }),
  })
  await expect(processes.run({ command: "touch ran" }, {})).rejects.toMatchObject({
    toolCode: "sandbox_missing",
    message:
      "Commands run only in the sandbox here (tools.shell.sandbox: required), and there is none: bubblewrap is not installed (Debian and Ubuntu: apt install bubblewrap).",
  })
  expect(() => processes.layer(false)).toThrow("required")
  expect(readdirSync(workspace)).toEqual([])
})

test("with auto and no sandbox a command runs, and the layer says why it is not held", async () => {
  const { processes } = openHere({ sandbox: "auto", findSandbox: () => ({ because: "of a test" }) })
  expect(await processes.run({ command: "true" }, {})).toMatchObject({
    exitCode: 0,
    sandbox: { kind: "none", because: "of a test", network: true },
  })
})

inSandbox("a folder for programs that cannot be looked at is left out", async () => {
  const workspace = realFolder()
  symlinkSync("circle", join(workspace, "circle"))
  const environment = { PATH: `${join(workspace, "circle")}:${process.env["PATH"]}` }
  const { processes } = openHere({ sandbox: "required", files: fence(workspace), environment })
  expect(await processes.run({ command: "echo done" }, {})).toMatchObject({ stdout: "done\n", exitCode: 0 })
})
