import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { findBubblewrap } from "../../testing/shell-app.ts"
import type { ProcessesOptions } from "./processes.ts"
import type { ProtectedPath } from "./protected-mounts.ts"
import { findSandbox } from "./sandbox.ts"
import { fakeFiles, racingSandbox, openTestProcesses, realTemporaryFolder } from "./testing.ts"

const bubblewrap = findBubblewrap()
const inSandbox = test.skipIf("why" in bubblewrap)

inSandbox("protected files cannot be written, moved or created, and placeholders are gone afterwards", async () => {
  const workspace = realTemporaryFolder()
  const files = fakeFiles(workspace)
  mkdirSync(join(workspace, "deep/down"), { recursive: true })
  writeFileSync(join(workspace, "deep/down/rules.yml"), "mine")
  for (const folder of [".git", ".ssh"]) mkdirSync(join(workspace, folder))
  for (const file of [".npmrc", ".ssh/key"]) writeFileSync(join(workspace, file), "mine")
  const protectedFiles: ProtectedPath[] = [
    { path: join(workspace, "deep/down/rules.yml") },
    { path: join(workspace, "deep/absent.yml") },
    { path: join(workspace, ".editor/settings.json") },
    { path: join(workspace, ".absent/") },
  ]
  const { processes } = openTestProcesses({ sandbox: "required", files, protectedFiles })
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
})

inSandbox("commands that run together keep placeholders until the last of them has ended", async () => {
  const { processes, workspace } = openTestProcesses({ sandbox: "required" })
  const attack = "mkdir -p .git && echo bad > .git/config"
  const results = await Promise.all([
    processes.run({ command: "sleep 0.1" }, {}),
    processes.run({ command: `sleep 0.3; ${attack}` }, {}),
    processes.run({ command: attack }, {}),
  ])
  expect(results.map(({ exitCode }) => exitCode)).toEqual([0, 1, 1])
  expect(readdirSync(workspace)).toEqual([])
})

inSandbox("additional roots are writable, and a narrowed call sees only its own paths", async () => {
  const workspace = realTemporaryFolder()
  const root = realTemporaryFolder()
  mkdirSync(join(workspace, "docs"))
  writeFileSync(join(workspace, "plan"), "x")
  const { processes } = openTestProcesses({
    sandbox: "required",
    files: fakeFiles(workspace, [".", root]),
    places: [workspace, root, join(root, "gone")],
  })
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

inSandbox("a call's variables reach the command, but not bubblewrap or the process list", async () => {
  const { processes } = openTestProcesses({ sandbox: "required" })
  const command = 'echo "$SPOKEN"; tr "\\0" " " < /proc/1/cmdline; tr "\\0" " " < /proc/1/environ'
  const { stdout } = await processes.run({ command, environment: { LD_PRELOAD: "", SPOKEN: "quietly" } }, {})
  expect(stdout).toMatch(/^quietly\n.*bwrap .* QUARTERMASTER_COMMAND=/)
  expect(stdout.split("\n").slice(1).join("")).not.toMatch(/quietly|LD_PRELOAD|--setenv|HOME=/)
})

inSandbox("an unreadable folder of programs is left out", async () => {
  const workspace = realTemporaryFolder()
  symlinkSync("circle", join(workspace, "circle"))
  const environment = { PATH: `${join(workspace, "circle")}:${process.env["PATH"]}` }
  const { processes } = openTestProcesses({ sandbox: "required", files: fakeFiles(workspace), environment })
  expect(await processes.run({ command: "echo done" }, {})).toMatchObject({ stdout: "done\n", exitCode: 0 })
})

inSandbox("a call's variables give access to no folder", async () => {
  const outside = realTemporaryFolder()
  const hidden = join(outside, "data")
  mkdirSync(join(hidden, "bin"), { recursive: true })
  const [key, other] = [join(hidden, "key"), join(outside, "other")]
  for (const file of [key, join(hidden, "bin/key"), other]) writeFileSync(file, "secret")
  const environment = { ...process.env, PATH: `${join(hidden, "bin")}:${process.env["PATH"]}` }
  const { processes } = openTestProcesses({ sandbox: "required", hidden: [hidden], environment })
  const command = `cat ${key} ${join(hidden, "bin/key")} ${other}; grep -c Seccomp: /proc/1/status; echo x >/dev/null`
  const path = `${hidden}:${outside}:/usr/bin:/bin`
  const environments: Record<string, string>[] = [
    { PATH: path },
    { HOME: "/proc" },
    { HOME: "/dev" },
    { SSL_CERT_DIR: hidden },
  ]
  const names = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]
  for (const environment of [...environments, ...names.map((name) => ({ [name]: key }))]) {
    const { stdout, stderr } = await processes.run({ command, environment, network: true }, {})
    expect(stdout, JSON.stringify(environment)).toBe("1\n")
    expect(stderr.match(/No such file/g), stderr).toHaveLength(3)
  }
})

inSandbox("a path swapped while the sandbox is set up gives access to nothing", async () => {
  const cases: [string, (folders: { workspace: string; outside: string }) => string][] = [
    ["a folder for a link that leads outside", ({ outside }) => `mv sub was; ln -s ${outside} sub`],
    ["a folder for a link that leads to our data", () => "mv sub was; ln -s .own sub"],
    ["a folder for a link that leads to a protected folder", () => "mv sub was; ln -s .git sub"],
    ["a file for a link that leads outside", ({ outside }) => `rm sub/.bashrc; ln -s ${outside}/secret sub/.bashrc`],
  ]
  for (const [title, script] of cases) {
    const [workspace, outside] = [realTemporaryFolder(), realTemporaryFolder()]
    for (const folder of ["sub", "other", ".own", ".git/hooks"]) mkdirSync(join(workspace, folder), { recursive: true })
    const secrets = [`${outside}/.bashrc`, `${outside}/secret`, `${workspace}/.own/.bashrc`]
    for (const path of secrets) writeFileSync(path, "the-secret")
    for (const name of ["sub/.bashrc", "other/more", ".git/.bashrc", ".git/config"]) writeFileSync(join(workspace, name), "mine") // prettier-ignore
    const swap = `cd ${workspace}\n${script({ workspace, outside })}`
    const options: Partial<ProcessesOptions> = {
      sandbox: "required",
      files: fakeFiles(workspace),
      hidden: [join(workspace, ".own")],
      protectedFiles: [{ path: join(workspace, "sub/.bashrc") }],
    }
    const { processes } = openTestProcesses({ ...options, findSandbox: racingSandbox(swap) })
    const command =
      "cat sub/.bashrc sub/secret; echo bad > sub/made; echo bad > sub/hooks/pre-commit; echo bad > sub/config; echo ran"
    const { stdout, stderr } = await processes.run({ command }, {})
    expect(stdout, title).not.toContain("the-secret")
    expect(stderr, title).toMatch(/was not run|bwrap: /)
    expect([stdout, ...[outside, `${workspace}/.own`].map((folder) => existsSync(join(folder, "made")))], title).toEqual(["", false, false]) // prettier-ignore
    expect([existsSync(join(workspace, ".git/hooks/pre-commit")), readFileSync(join(workspace, ".git/config"), "utf8")], title).toEqual([false, "mine"]) // prettier-ignore
  }
})

inSandbox("a call's variables have no effect before the command itself starts", async () => {
  const { processes } = openTestProcesses({ sandbox: "required" })
  const environment = { LD_PRELOAD: "/nowhere/a.so", SHELLOPTS: "xtrace" }
  const { stderr } = await processes.run({ command: ":", environment }, {})
  expect(stderr.match(/nowhere/g), stderr).toHaveLength(1)
})

inSandbox("a killed sandbox test is repeated, and nothing runs without the sandbox", async () => {
  const workspace = realTemporaryFolder()
  const program = join(workspace, "bwrap")
  writeFileSync(program, "#!/bin/sh\nkill -9 $$\n", { mode: 0o700 })
  let tries = 0
  const { processes } = openTestProcesses({
    sandbox: "auto",
    files: fakeFiles(workspace),
    findSandbox: (folder) => findSandbox(folder, ++tries === 1 ? [program] : undefined),
  })
  await expect(processes.run({ command: "true" }, {})).rejects.toThrow(/^The test of the sandbox was ended by SIGKILL/)
  expect(await processes.run({ command: "true" }, {})).toMatchObject({ sandbox: { kind: "bubblewrap" } })
})

inSandbox(
  "a folder of programs in the workspace that a command replaces by a link gives access to nothing",
  async () => {
    const [workspace, outside] = [realTemporaryFolder(), realTemporaryFolder()]
    writeFileSync(join(outside, "secret"), "the-secret")
    mkdirSync(join(workspace, "bin"))
    const environment = { ...process.env, PATH: `${join(workspace, "bin")}:${process.env["PATH"]}`, SSL_CERT_DIR: join(workspace, "bin") } // prettier-ignore
    const { processes } = openTestProcesses({ sandbox: "required", files: fakeFiles(workspace), environment })
    await processes.run({ command: `rmdir bin; ln -s ${outside} bin` }, {})
    const { stdout, stderr } = await processes.run({ command: `cat bin/secret ${outside}/secret`, network: true }, {})
    expect([stdout, stderr.match(/No such file/g)?.length]).toEqual(["", 2])
  },
)
