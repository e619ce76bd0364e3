import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { findBubblewrap } from "../../testing/shell.ts"
import type { ProcessesOptions } from "./processes.ts"
import { findSandbox } from "./sandbox.ts"
import { Seals } from "./seals.ts"
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

inSandbox("variables of a call open no folder of the machine", async () => {
  const outside = realFolder()
  const hidden = join(outside, "data")
  mkdirSync(join(hidden, "bin"), { recursive: true })
  const [key, other] = [join(hidden, "key"), join(outside, "other")]
  for (const file of [key, join(hidden, "bin/key"), other]) writeFileSync(file, "secret")
  const environment = { ...process.env, PATH: `${join(hidden, "bin")}:${process.env["PATH"]}` }
  const { processes } = openHere({ sandbox: "required", hidden: [hidden], environment })
  const command = `cat ${key} ${join(hidden, "bin/key")} ${other}; grep -c Seccomp: /proc/1/status; echo x >/dev/null`
  const path = `${hidden}:${outside}:/usr/bin:/bin`
  const given: Record<string, string>[] = [
    { PATH: path },
    { HOME: "/proc" },
    { HOME: "/dev" },
    { SSL_CERT_DIR: hidden },
  ]
  const names = ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"]
  for (const environment of [...given, ...names.map((name) => ({ [name]: key }))]) {
    const { stdout, stderr } = await processes.run({ command, environment, network: true }, {})
    expect(stdout, JSON.stringify(environment)).toBe("1\n")
    expect(stderr.match(/No such file/g), stderr).toHaveLength(3)
  }
})

/** Bubblewrap, with something that happens between our look at the workspace and its own. */
function meanwhile(script: string): ProcessesOptions["findSandbox"] {
  return (folder) => {
    const found = findSandbox(folder)
    if (!("program" in found)) return found
    const program = join(realFolder(), "bwrap")
    writeFileSync(program, `#!/bin/sh\n${script}\nexec ${found.program} "$@"\n`, { mode: 0o700 })
    return { ...found, program }
  }
}

inSandbox("what is swapped while the sandbox is put together leads nowhere", async () => {
  const cases: [string, (place: { workspace: string; outside: string }) => string][] = [
    ["a folder for a link that leads outside", ({ outside }) => `mv sub was; ln -s ${outside} sub`],
    ["a folder for a link that leads to our data", () => "mv sub was; ln -s .own sub"],
    ["a folder for a link that leads to what is sealed", () => "mv sub was; ln -s .git sub"],
    ["a file for a link that leads outside", ({ outside }) => `rm sub/.bashrc; ln -s ${outside}/secret sub/.bashrc`],
  ]
  for (const [title, script] of cases) {
    const [workspace, outside] = [realFolder(), realFolder()]
    for (const folder of ["sub", "other", ".own", ".git/hooks"]) mkdirSync(join(workspace, folder), { recursive: true })
    const secrets = [`${outside}/.bashrc`, `${outside}/secret`, `${workspace}/.own/.bashrc`]
    for (const path of secrets) writeFileSync(path, "the-secret")
    for (const name of ["sub/.bashrc", "other/more", ".git/.bashrc", ".git/config"]) writeFileSync(join(workspace, name), "mine") // prettier-ignore
    const swap = `cd ${workspace}\n${script({ workspace, outside })}`
    const options = { sandbox: "required", files: fence(workspace), hidden: [join(workspace, ".own")] } as const
    const { processes } = openHere({ ...options, findSandbox: meanwhile(swap) })
    const command =
      "cat sub/.bashrc sub/secret; echo bad > sub/made; echo bad > sub/hooks/pre-commit; echo bad > sub/config; echo ran"
    const { stdout, stderr } = await processes.run({ command }, {})
    expect(stdout, title).not.toContain("the-secret")
    expect(stderr, title).toMatch(/was not run|bwrap: /)
    expect([stdout, ...[outside, `${workspace}/.own`].map((folder) => existsSync(join(folder, "made")))], title).toEqual(["", false, false]) // prettier-ignore
    expect([existsSync(join(workspace, ".git/hooks/pre-commit")), readFileSync(join(workspace, ".git/config"), "utf8")], title).toEqual([false, "mine"]) // prettier-ignore
  }
})

inSandbox("what holds a place is never put through a link", () => {
  const [workspace, outside] = [realFolder(), realFolder()]
  mkdirSync(join(workspace, "sub"))
  const seal = {
    path: join(workspace, "sub/rules.yml"),
    // Asked for after the look and before anything is put there.
    get meanwhile(): undefined {
      if (existsSync(join(workspace, "was"))) return undefined
      renameSync(join(workspace, "sub"), join(workspace, "was"))
      symlinkSync(outside, join(workspace, "sub"))
      return undefined
    },
  }
  const first = { path: join(workspace, "first.yml") }
  const put = () => new Seals().words([first, seal], [], { writable: [workspace], visible: [workspace] })
  expect(put).toThrow("The workspace was changed while the sandbox was put together. Run the command again.")
  expect([...readdirSync(outside), ...readdirSync(join(workspace, "was"))]).toEqual([])
  expect(readdirSync(workspace).toSorted()).toEqual(["sub", "was"])
})

inSandbox("variables of a call count from the command on, not before we have let it begin", async () => {
  const { processes } = openHere({ sandbox: "required" })
  const environment = { LD_PRELOAD: "/nowhere/a.so", SHELLOPTS: "xtrace" }
  const { stderr } = await processes.run({ command: ":", environment }, {})
  expect(stderr.match(/nowhere/g), stderr).toHaveLength(1)
})

inSandbox("a sandbox that was stopped while it was tried is tried again, and nothing runs without it", async () => {
  const workspace = realFolder()
  const program = join(workspace, "bwrap")
  writeFileSync(program, "#!/bin/sh\nkill -9 $$\n", { mode: 0o700 })
  let tries = 0
  const { processes } = openHere({
    sandbox: "auto",
    files: fence(workspace),
    findSandbox: (folder) => findSandbox(folder, ++tries === 1 ? [program] : undefined),
  })
  await expect(processes.run({ command: "true" }, {})).rejects.toThrow(/^The sandbox was tried, and ended by SIGKILL/)
  expect(await processes.run({ command: "true" }, {})).toMatchObject({ sandbox: { kind: "bubblewrap" } })
})

inSandbox("a folder of programs in the workspace that a command makes a link of opens nothing", async () => {
  const [workspace, outside] = [realFolder(), realFolder()]
  writeFileSync(join(outside, "secret"), "the-secret")
  mkdirSync(join(workspace, "bin"))
  const environment = { ...process.env, PATH: `${join(workspace, "bin")}:${process.env["PATH"]}`, SSL_CERT_DIR: join(workspace, "bin") } // prettier-ignore
  const { processes } = openHere({ sandbox: "required", files: fence(workspace), environment })
  await processes.run({ command: `rmdir bin; ln -s ${outside} bin` }, {})
  const { stdout, stderr } = await processes.run({ command: `cat bin/secret ${outside}/secret`, network: true }, {})
  expect([stdout, stderr.match(/No such file/g)?.length]).toEqual(["", 2])
})
