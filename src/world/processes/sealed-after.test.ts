import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { until } from "../../testing/open.ts"
import { findBubblewrap } from "../../testing/shell.ts"
import { fence, layers, openHere, realFolder } from "./testing.ts"

const ann = { agentId: "ann" }
const inSandbox = test.skipIf("why" in findBubblewrap())
const git = (folder: string, ...words: string[]) =>
  execFileSync("git", ["-C", folder, "-c", "user.name=a", "-c", "user.email=a@b.c", ...words], { encoding: "utf8" })

/** What was taken away, by its path. */
const taken = (dataFolder: string) =>
  readdirSync(join(dataFolder, "trash"))
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(join(dataFolder, "trash", name), "utf8")) as { path: string; taken: string })
    .filter((note) => note.taken !== undefined)
    .map(({ path }) => path)
    .toSorted()

test.each(layers)(
  "with sandbox %s a repository made in the repository runs nothing for the person",
  async (sandbox) => {
    const dataFolder = realFolder()
    const escaped = join(dataFolder, "escaped")
    const { processes, workspace } = openHere({ sandbox, dataFolder })
    git(workspace, "init", "-q")
    const command = `set -e; git init -q sub
    git -C sub -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m one
    git -C sub config core.fsmonitor 'touch ${escaped}; false'; git add sub 2>/dev/null; echo done`
    const result = await processes.run({ command }, {})
    expect(result).toMatchObject({ stdout: "done\n", exitCode: 0, sealed: ["sub/.git"] })
    expect(result.stderr).toContain("No command may make 'sub/.git': moved to the trash of Quartermaster")
    git(workspace, "status")
    expect(existsSync(escaped)).toBe(false)
    expect(taken(dataFolder)).toEqual(["sub/.git"])
  },
)

test.each(layers)(
  "with sandbox %s names that no tool writes are taken away when a command has made them",
  async (sandbox) => {
    const dataFolder = realFolder()
    const { processes, workspace } = openHere({ sandbox, dataFolder, protectedPaths: ["migrations/**", "fixed.txt"] })
    mkdirSync(join(workspace, "theirs"))
    writeFileSync(join(workspace, "theirs/.npmrc"), "mine")
    const command = `mkdir -p a/b .config/git .config/own migrations; ln -s /etc a/.vscode
    for f in .npmrc .envrc a/b/.mcp.json .config/git/config .config/own/x a/fixed.txt migrations/1.sql a/test.key a/.gitignore
    do echo x > $f; done`
    const { sealed = [], exitCode } = await processes.run({ command }, {})
    expect(exitCode).toBe(0)
    const expected = [".config/git", ".envrc", ".npmrc", "a/.vscode", "a/b/.mcp.json", "a/fixed.txt", "migrations"]
    expect(sealed.toSorted()).toEqual(expected)
    expect(taken(dataFolder)).toEqual(expected)
    expect(expected.filter((path) => existsSync(join(workspace, path)))).toEqual([])
    for (const path of [".config/own/x", "a/test.key", "a/.gitignore", "theirs/.npmrc"]) {
      expect(existsSync(join(workspace, path)), path).toBe(true)
    }
    expect((await processes.run({ command: "true" }, {})).sealed).toEqual([])
  },
)

test.each(layers)(
  "with sandbox %s a background command says it too, and commands side by side do not disturb",
  async (sandbox) => {
    const { processes, workspace } = openHere({ sandbox })
    const command = "until [ -e y ]; do sleep 0.05; done; echo x > .envrc; mkdir x"
    const { id } = await processes.start({ command }, ann)
    await Promise.all(["true", "ls -a", "echo z > z"].map((one) => processes.run({ command: one }, {})))
    writeFileSync(join(workspace, "y"), "")
    await until(() => processes.list(ann)[0]?.status !== "running", "it ended")
    expect(await processes.output(id, ann)).toMatchObject({
      sealed: [".envrc"],
      stderr: expect.stringContaining("'.envrc'"),
    })
    expect(readdirSync(workspace).toSorted()).toEqual(["x", "y", "z"])
  },
)

test("what was there and is moved with its folder stays, what is moved alone to where it counts does not", async () => {
  const { processes, workspace } = openHere()
  git(workspace, "init", "-q", "one/repository")
  mkdirSync(join(workspace, "two/.vscode"), { recursive: true })
  const { sealed } = await processes.run({ command: "mv one/repository moved; mv two/.vscode .vscode" }, {})
  expect(sealed).toEqual([".vscode"])
  expect(existsSync(join(workspace, "moved/.git/HEAD"))).toBe(true)
})

/** What the person has linked, as people do. */
function linked(workspace: string, links: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(links)) symlinkSync(text, join(workspace, path))
}

test.each(layers)("with sandbox %s what is put in the place of a sealed link goes, and the link is back", async (sandbox) => {
  const dataFolder = realFolder()
  const { processes, workspace } = openHere({ sandbox, dataFolder, protectedPaths: ["migrations/**", "src/b.js"] })
  git(workspace, "init", "-q", "--template=")
  for (const folder of ["githooks", "settings/vscode", "db", "lib"]) mkdirSync(join(workspace, folder), { recursive: true })
  for (const file of ["settings/npmrc", "lib/b.js"]) writeFileSync(join(workspace, file), "mine")
  const links = { ".git/hooks": "../githooks", ".vscode": "settings/vscode", ".npmrc": "./settings/npmrc", migrations: "db", src: "lib", ".envrc": join(dataFolder, "envrc") } // prettier-ignore
  linked(workspace, links)
  const command = `rm .git/hooks .vscode .npmrc .envrc migrations src; mkdir -p .git/hooks .vscode src evil
    echo x | tee .git/hooks/post-checkout .vscode/tasks.json .npmrc src/a.js; ln -s evil migrations; ln -s evil .envrc`
  const { sealed = [], exitCode, stderr } = await processes.run({ command }, {})
  expect({ exitCode, sealed: sealed.toSorted() }).toEqual({ exitCode: 0, sealed: Object.keys(links).toSorted() })
  expect(taken(dataFolder)).toEqual(Object.keys(links).toSorted())
  expect(stderr).toContain("Where a link was, it is again:")
  for (const [path, text] of Object.entries(links)) expect(readlinkSync(join(workspace, path)), path).toBe(text)
  expect((await processes.run({ command: "ls" }, {})).sealed).toEqual([])
}) // prettier-ignore

test.each(layers)("with sandbox %s a sealed link that would lead to something else does not stay", async (sandbox) => {
  const dataFolder = realFolder()
  const { processes, workspace } = openHere({ sandbox, dataFolder })
  mkdirSync(join(workspace, "settings/vscode"), { recursive: true })
  linked(workspace, { ".vscode": "settings/vscode", ".npmrc": "settings/npmrc" })
  const command = "mv settings old; mkdir -p settings/vscode; echo x | tee settings/vscode/tasks.json settings/npmrc"
  const { sealed = [], exitCode, stderr } = await processes.run({ command }, {})
  expect({ exitCode, sealed: sealed.toSorted() }).toEqual({ exitCode: 0, sealed: [".npmrc", ".vscode"] })
  expect(stderr).toMatch(/A link was '.*', '.*', and it is gone/)
  expect(readdirSync(workspace).toSorted()).toEqual(["old", "settings"])
})

inSandbox("protected paths, and what git runs from nested repositories, cannot be written in the sandbox", async () => {
  const workspace = realFolder()
  for (const folder of ["src", "migrations/old", "deep/src", "sub"])
    mkdirSync(join(workspace, folder), { recursive: true })
  const files = ["src/b.js", "src/a.js", "migrations/old/1.sql", "deep/src/x.lock", "deep/.npmrc"]
  for (const file of files) writeFileSync(join(workspace, file), "mine")
  git(workspace, "init", "-q")
  git(join(workspace, "sub"), "init", "-q")
  const { processes } = openHere({
    sandbox: "required",
    files: fence(workspace),
    protectedPaths: ["src/b.js", "migrations/**", "*.lock"],
  })
  const attempts = [
    "f=src/b.js; echo bad > $f",
    "rm -f src/b.js",
    "mv src gone",
    "echo bad > migrations/old/1.sql",
    "echo bad > migrations/2.sql",
    "rm -rf migrations",
    "echo bad > deep/src/x.lock",
    "echo bad > deep/.npmrc",
    "git -C sub config core.fsmonitor bad",
    "mkdir -p sub/.git/hooks; echo bad > sub/.git/hooks/post-checkout",
    "echo bad > sub/.git/config.worktree",
    "mkdir -p .git/modules/x && echo bad > .git/modules/x/config",
    "echo bad > .git/config.worktree",
    "mkdir -p .git/worktrees/x",
  ]
  const done = await Promise.all(
    attempts.map(async (command) => ({ command, exitCode: (await processes.run({ command }, {})).exitCode })),
  )
  expect(done.filter(({ exitCode }) => exitCode === 0)).toEqual([])
  for (const file of files) expect(readFileSync(join(workspace, file), "utf8"), file).toBe("mine")
  const work = `set -e; cat .git/HEAD sub/.git/HEAD > /dev/null; echo new > src/a.js; echo new > src/c.js; echo x > sub/f
    for g in sub .; do git -C $g add -A; git -C $g -c user.name=a -c user.email=a@b.c commit -qm one; done`
  expect(await processes.run({ command: work }, {})).toMatchObject({ exitCode: 0, sealed: [] })
  expect(git(workspace, "log", "--format=%s")).toBe("one\n")
  expect(git(join(workspace, "sub"), "log", "--format=%s")).toBe("one\n")
  expect(readdirSync(join(workspace, ".git"))).not.toContain("modules")
  await processes.run({ command: "mv sub/.git gone; mkdir sub/.git; echo bad > sub/.git/config" }, {})
  expect(readFileSync(join(workspace, "sub/.git/config"), "utf8")).not.toContain("bad")
})
