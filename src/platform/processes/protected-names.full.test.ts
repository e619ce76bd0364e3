import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { expect, test } from "vitest"
import type { CommandSpec } from "./process-access.ts"
import { findBubblewrap } from "../../testing/shell-app.ts"
import type { ProcessesOptions } from "./processes.ts"
import { fakeFiles, racingSandbox, openTestProcesses, realTemporaryFolder } from "./testing.ts"

const git = (folder: string, ...words: string[]) =>
  execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "protocol.file.allow=always", ...words], { encoding: "utf8", stdio: "pipe" }) // prettier-ignore
const commit = "git -c user.name=a -c user.email=a@b.c commit -qm"

test("bubblewrap works here, so that the following tests mean something", () => {
  expect(findBubblewrap()).toHaveProperty("path")
})

/** A workspace of these files, each with `mine` in it. */
function workspaceOf(files: readonly string[], options: Partial<ProcessesOptions> = {}) {
  const workspace = realTemporaryFolder()
  for (const file of files) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true })
    writeFileSync(join(workspace, file), "mine")
  }
  const { processes } = openTestProcesses({ sandbox: "required", files: fakeFiles(workspace), ...options })
  const run = (command: string, spec: Partial<CommandSpec> = {}) => processes.run({ command, ...spec }, {})
  return { workspace, run }
}

/** The commands that succeeded. */
async function succeeding(commands: readonly string[], run: (command: string) => Promise<{ exitCode: number | null }>) {
  const done = await Promise.all(commands.map(async (command) => ({ command, ...(await run(command)) })))
  return done.flatMap(({ command, exitCode }) => (exitCode === 0 ? [command] : []))
}

/** Everything in a folder but what is in `.git/objects`. */
const treeOf = (folder: string) =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.includes(".git/objects"))
    .toSorted()

test("protected paths and git's hooks and configuration cannot be written at the root, in the command's folder and above it", async () => {
  const files = ["src/b.js", "src/a.js", "migrations/old/1.sql", "deep/down/x.lock", "deep/.npmrc", "packages/a/db/1"]
  const { workspace, run } = workspaceOf(files, { protectedPaths: ["src/b.js", "migrations/**", "*.lock", "packages/*/db"] }) // prettier-ignore
  git(workspace, "init", "-q")
  git(join(workspace, "deep"), "init", "-q")
  const before = treeOf(workspace)
  const attempts = [
    "f=../../src/b.js; echo bad > $f",
    "rm -f ../../src/b.js",
    "mv ../../src ../../gone",
    "echo bad > ../../migrations/old/1.sql",
    "echo bad > ../../migrations/2.sql",
    "rm -rf ../../migrations",
    "echo bad > ../../packages/a/db/1",
    "echo bad > x.lock",
    "echo bad > ../.npmrc",
    "git config core.fsmonitor bad",
    "mkdir -p ../.git/hooks; echo bad > ../.git/hooks/post-checkout",
    "echo bad > ../.git/config.worktree",
    "mkdir -p ../.git/modules/x && echo bad > ../.git/modules/x/config",
    "mkdir -p ../.git/worktrees/x",
    "git -C ../.. config core.fsmonitor bad",
    "mv ../.git ../gone && mkdir ../.git",
    "mkdir -p .git && echo bad > .git/config",
    "mkdir .vscode && echo bad > .vscode/tasks.json",
    "mkdir ../.claude && echo bad > ../.claude/settings.json",
  ]
  expect(await succeeding(attempts, (command) => run(command, { cwd: "deep/down" }))).toEqual([])
  for (const file of files) expect(readFileSync(join(workspace, file), "utf8"), file).toBe("mine")
  expect(treeOf(workspace)).toEqual(before)
  const work = `set -e; echo new > ../../src/c.js; git add -A; ${commit} one; cd ../..; git add src migrations; ${commit} two`
  expect(await run(work, { cwd: "deep/down" })).toMatchObject({ exitCode: 0, stderr: "" })
  expect([git(join(workspace, "deep"), "log", "--format=%s"), git(workspace, "log", "--format=%s")]).toEqual(["one\n", "two\n"]) // prettier-ignore
})

test("names in a submodule are protected wherever the command runs", async () => {
  const [workspace, library] = [realTemporaryFolder(), realTemporaryFolder()]
  git(library, "init", "-q")
  git(library, "commit", "-q", "--allow-empty", "-m", "one")
  git(workspace, "init", "-q")
  git(workspace, "submodule", "--quiet", "add", library, "libs/one")
  writeFileSync(join(workspace, "libs/one/.npmrc"), "mine")
  const { processes } = openTestProcesses({ sandbox: "required", files: fakeFiles(workspace) })
  const attempts = [
    "echo bad > libs/one/.npmrc",
    "git -C libs/one config core.fsmonitor bad",
    "echo bad > .git/modules/libs/one/hooks/post-checkout",
    "rm libs/one/.git && git init libs/one",
    "mkdir libs/one/.vscode && echo bad > libs/one/.vscode/tasks.json",
    "mv libs/one libs/two",
  ]
  expect(await succeeding(attempts, (command) => processes.run({ command }, {}))).toEqual([])
  expect(await processes.run({ command: "git -C libs/one log --format=%s" }, {})).toMatchObject({ stdout: "one\n" })
  expect(readFileSync(join(workspace, "libs/one/.npmrc"), "utf8")).toBe("mine")
  expect(readdirSync(join(workspace, "libs/one")).toSorted()).toEqual([".git", ".npmrc"])
})

test("files that a command creates in a deeper folder stay", async () => {
  const { workspace, run } = workspaceOf([])
  expect(await run("mkdir sub; git init -q sub; echo x > sub/.npmrc; echo x > .envrc")).toMatchObject({ exitCode: 0, stderr: "" }) // prettier-ignore
  expect([existsSync(join(workspace, "sub/.git/config")), existsSync(join(workspace, "sub/.npmrc"))]).toEqual([true, true]) // prettier-ignore
})

test("a repository is created at the root only by an approved command that says so", async () => {
  const { workspace, run } = workspaceOf([])
  expect((await run("git init -q", { unapproved: true })).exitCode).not.toBe(0)
  expect((await run("eval git init -q")).exitCode).not.toBe(0)
  expect(readdirSync(workspace)).toEqual([])
  expect(await run("git init -q && git add -A")).toMatchObject({ exitCode: 0, stderr: "" })
  expect(readdirSync(workspace)).toEqual([".git"])
})

test("an unapproved command cannot create files that run by themselves, and git does not see the placeholders", async () => {
  const { workspace, run } = workspaceOf(["a.js", "sub/b.js"])
  git(workspace, "init", "-q")
  const unapproved = { unapproved: true, mustBeSandboxed: true, cwd: "sub" }
  const making = [".mcp.json", ".envrc", ".npmrc", ".devcontainer.json"].flatMap((name) =>
    ["", "../"].flatMap((up) => [`echo x > ${up}${name}`, `rm -rf ${up}${name} && echo x > ${up}${name}`]),
  )
  expect(await succeeding(making, (command) => run(command, unapproved))).toEqual([])
  const { stdout } = await run("cd ..; git add -A; git status --short", unapproved)
  expect(stdout).toBe("A  a.js\nA  sub/b.js\n")
  expect(readdirSync(workspace).toSorted()).toEqual([".git", "a.js", "sub"])
})

const confirmed = [".env", "sub/.env", ".aws/credentials", ".config/gh/hosts.yml", "credentials.json", ".npmrc"]
const runsLater = ["package.json", "sub/package.json", "Makefile", ".github/workflows/ci.yml", ".githooks/pre-push"]

test("in an unapproved command secrets are absent and files that run later are read-only", async () => {
  const { workspace, run } = workspaceOf([...confirmed, ...runsLater, "other/.env", "a.js"])
  git(workspace, "init", "-q")
  const before = treeOf(workspace)
  const unapproved = { unapproved: true, mustBeSandboxed: true, cwd: "sub" }
  const up = (path: string) => `../${path}`
  const reading = confirmed.map((path) => `grep mine ${up(path)}`)
  const writing = [...confirmed, ...runsLater].flatMap((path) => [`echo bad > ${up(path)}`, `rm ${up(path)} && echo bad > ${up(path)}`]) // prettier-ignore
  const moving = ["mv ../.github ../x", "mv ../.aws ../x", "mv ../sub ../x", "mv package.json x", "mv ../a.js ../.env"]
  expect(await succeeding([...reading, ...moving], (command) => run(command, unapproved))).toEqual([])
  await succeeding(writing, (command) => run(command, unapproved))
  for (const path of [...confirmed, ...runsLater])
    expect(readFileSync(join(workspace, path), "utf8"), path).toBe("mine")
  expect(treeOf(workspace)).toEqual(before)
  const work = `set -e; grep -q mine ../Makefile package.json ../other/.env; echo new > ../a.js; git add ../a.js; ${commit} one`
  expect(await run(work, unapproved)).toMatchObject({ exitCode: 0, stderr: "" })
  expect(await run("cat ../.env ../package.json", { cwd: "sub" })).toMatchObject({ stdout: "minemine" })
  expect((await run("echo asked > package.json", { cwd: "sub" })).exitCode).toBe(0)
})

test("a protected name inside a protected folder does not make that folder writable", async () => {
  const files = ["deep/down/x", "deep/down/y", ".github/workflows/ci.yml", ".aws/sub/.npmrc", ".aws/sub/config"]
  const { workspace, run } = workspaceOf(files, { protectedPaths: ["deep/**", "deep/down/x"] })
  const attempts = ["echo bad > deep/down/y", "echo bad > deep/down/new", "mkdir deep/new"]
  expect(await succeeding(attempts, (command) => run(command))).toEqual([])
  const inWorkflows = ["echo bad > ci.yml", "echo bad > new.yml", "mkdir ../new"]
  expect(
    await succeeding(inWorkflows, (command) => run(command, { unapproved: true, cwd: ".github/workflows" })),
  ).toEqual([])
  const { stdout } = await run("cat .npmrc config", { unapproved: true, cwd: ".aws/sub" })
  expect(stdout).toBe("")
  for (const file of files) expect(readFileSync(join(workspace, file), "utf8"), file).toBe("mine")
  expect(existsSync(join(workspace, "deep/down/new"))).toBe(false)
})

test("a narrowed call cannot reach protected or confirmed paths by naming them", async () => {
  const { workspace, run } = workspaceOf([".npmrc", ".vscode/tasks.json", ".env", "package.json", ".ssh/key", "sub/a"])
  const allowedPaths = [".npmrc", ".vscode", ".env", "package.json", ".ssh", "sub"]
  const spec = { cwd: "sub", allowedPaths }
  const attempts = ["echo bad > ../.npmrc", "echo bad > ../.vscode/tasks.json", "grep mine ../.ssh/key"]
  expect(await succeeding(attempts, (command) => run(command, spec))).toEqual([])
  const more = ["grep mine ../.env", "echo bad > ../package.json", "grep mine ../.npmrc", ...attempts.slice(1)]
  expect(await succeeding(more, (command) => run(command, { ...spec, unapproved: true }))).toEqual([])
  expect(
    await run("cat ../package.json ../.vscode/tasks.json a; ls -A ..", { ...spec, unapproved: true }),
  ).toMatchObject({
    stdout: "mineminemine.vscode\npackage.json\nsub\n",
  })
  expect(readFileSync(join(workspace, ".npmrc"), "utf8")).toBe("mine")
})

test("a read-only path swapped for a link while the sandbox is set up is not shown", async () => {
  const outside = realTemporaryFolder()
  writeFileSync(join(outside, "tasks.json"), "the-secret")
  const { workspace, run } = workspaceOf([".vscode/tasks.json", "sub/a"], {
    findSandbox: (folder) => racingSandbox(`cd ${workspace}; mv .vscode was; ln -s ${outside} .vscode`)!(folder),
  })
  const { stdout, stderr } = await run("cat ../.vscode/tasks.json", { cwd: "sub", allowedPaths: ["sub", ".vscode"] })
  expect(stdout).toBe("")
  expect(stderr).toMatch(/was not run|bwrap: /)
})

test("a placeholder stays while a command of another process needs it, and is removed with the last one", async () => {
  const workspace = realTemporaryFolder()
  git(workspace, "init", "-q")
  const before = treeOf(workspace)
  // Two instances know as little of each other as two processes.
  const [first, second] = [1, 2].map(
    () => openTestProcesses({ sandbox: "required", files: fakeFiles(workspace) }).processes,
  )
  const unapproved = { unapproved: true, mustBeSandboxed: true }
  const begun = (name: string) => expect.poll(() => existsSync(join(workspace, name)), { timeout: 20_000 }).toBe(true)
  const wait = (name: string) => `touch ${name}; while [ -e ${name} ]; do sleep 0.05; done; `
  const early = first!.run({ command: wait("one"), ...unapproved }, {})
  await begun("one")
  const making = ["mkdir .claude", "echo x > .mcp.json", "echo x > .envrc", "echo ../x > .git/commondir", "echo x > .git/config.worktree", "mkdir .git/modules"] // prettier-ignore
  const late = second!.run({ command: wait("two") + making.map((one) => `${one} && echo '${one}'; `).join(""), ...unapproved }, {}) // prettier-ignore
  await begun("two")
  rmSync(join(workspace, "one"))
  await early
  rmSync(join(workspace, "two"))
  expect((await late).stdout).toBe("")
  expect(treeOf(workspace)).toEqual(before)
})

test("in an unapproved command the target of a link to a secret is absent, and commands run beside links", async () => {
  const { workspace, run } = workspaceOf(["conf/prod.txt", "conf/keys/one", "a.js"])
  symlinkSync("conf/prod.txt", join(workspace, ".env"))
  symlinkSync("conf/keys", join(workspace, ".aws"))
  symlinkSync("nowhere", join(workspace, ".env.local"))
  symlinkSync("/etc/hostname", join(workspace, ".netrc"))
  const { stdout, exitCode } = await run("cat .env conf/prod.txt conf/keys/one .aws/one .netrc; cat a.js", { unapproved: true, mustBeSandboxed: true }) // prettier-ignore
  expect([stdout, exitCode]).toEqual(["mine", 0])
  expect(await run("cat .env")).toMatchObject({ stdout: "mine" })
})
