import { execFileSync } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { findBubblewrap } from "../../testing/shell.ts"
import { fence, layers, openHere, realFolder } from "./testing.ts"

const inSandbox = test.skipIf("why" in findBubblewrap())

test("in a tree too large to be seen, what the command names is seen, and nothing old is taken", async () => {
  const { processes, workspace } = openHere()
  for (let count = 0; count < 40; count++) {
    mkdirSync(join(workspace, `many/${count}/deep/down`), { recursive: true })
    for (let file = 0; file < 300; file++) writeFileSync(join(workspace, `many/${count}/${file}`), "")
    writeFileSync(join(workspace, `many/${count}/deep/down/.envrc`), "mine")
  }
  const command = "rm -r many/1?; git init -q many/5/deep/new; echo x > many/0/deep/down/.npmrc"
  expect((await processes.run({ command }, {})).sealed?.toSorted()).toEqual([
    "many/0/deep/down/.npmrc",
    "many/5/deep/new/.git",
  ])
  expect(existsSync(join(workspace, "many/39/deep/down/.envrc"))).toBe(true)
})

inSandbox("where the tree is too large, the folder a pattern begins in is held", async () => {
  const workspace = realFolder()
  for (let count = 0; count < 60; count++) {
    mkdirSync(join(workspace, `many/${count}/deep`), { recursive: true })
    for (let file = 0; file < 200; file++) writeFileSync(join(workspace, `many/${count}/${file}`), "")
  }
  writeFileSync(join(workspace, "many/59/deep/a.sql"), "mine")
  const { processes } = openHere({ sandbox: "required", files: fence(workspace), protectedPaths: ["many/59/*/*.sql"] })
  const command = "cd many; cd 59; cd deep; echo bad > a.sql"
  expect((await processes.run({ command }, {})).exitCode).not.toBe(0)
  expect(readFileSync(join(workspace, "many/59/deep/a.sql"), "utf8")).toBe("mine")
})

/** How a script plants a repository that runs `$run` for whoever stands in it, and what is then taken away. */
const plants: [string, string, string[]][] = [
  ["where a file was", "rm notes; git init -q notes; plant notes", ["notes/.git"]],
  ["where a link was", "rm to; git init -q to; plant to; echo x > to/.envrc", ["to/.envrc", "to/.git"]],
  ["by another name", "git init -q --bare docs; plant docs", ["docs"]],
  ["in a folder that was there", "git init -q --bare src; rm -r src/hooks; plant src", ["src/HEAD", "src/config", "src/objects", "src/refs"]],
  ["in the workspace itself", "git init -q --bare .; plant .", ["HEAD", "config", "hooks", "objects", "refs"]],
  ["that shares what another has", "git init -q --bare b; mkdir docs; mv b/HEAD docs; echo ../b > docs/commondir; plant docs", ["docs"]],
  ["in a folder whose name is no text", "mkdir $'caf\\xe9'; git init -q $'caf\\xe9'; plant $'caf\\xe9'", ["caf%E9/.git"]],
  ["whose own name is no text", "git init -q --bare $'caf\\xe9'; plant $'caf\\xe9'", ["caf%E9"]],
  ["among very many names", "git init -q src; plant src; seq 1 11000 | xargs touch", ["src/.git"]],
] // prettier-ignore

test.each(layers.flatMap((sandbox) => plants.map((plant) => [sandbox, ...plant] as const)))(
  "with sandbox %s a repository planted %s runs nothing for a person who looks around",
  async (sandbox, _, script, expected) => {
    const dataFolder = realFolder()
    const escaped = join(dataFolder, "escaped")
    const { processes, workspace } = openHere({ sandbox, dataFolder })
    mkdirSync(join(workspace, "src"))
    symlinkSync("nowhere", join(workspace, "to"))
    for (const name of ["notes", "src/a.js"]) writeFileSync(join(workspace, name), "mine")
    const set = (words: string) => `git -C "$1" config ${words};`
    const plant = `${set("core.bare false")} ${set(`core.fsmonitor 'touch ${escaped}; false'`)}`
    const where = `[ -e "$1/.git" ] || ${set("core.worktree ..")}`
    writeFileSync(join(workspace, "s.sh"), `set -e; plant() { ${plant} ${where} }; ${script}`)
    const { sealed = [], stderr, exitCode } = await processes.run({ command: "bash s.sh" }, {})
    expect({ stderr, exitCode, sealed: sealed.toSorted() }).toMatchObject({ exitCode: 0, sealed: expected })
    expect(stderr).toContain(`moved to the trash of Quartermaster`)
    const status = `find . -type d -exec sh -c 'cd "$1" && git status' _ {} \\; > status 2>&1`
    execFileSync("bash", ["-c", status], { cwd: workspace })
    expect(readFileSync(join(workspace, "status"), "utf8")).toContain("not a git repository")
    expect(existsSync(escaped)).toBe(false)
    expect(readFileSync(join(workspace, "src/a.js"), "utf8")).toBe("mine")
    const notes = readdirSync(join(dataFolder, "trash")).filter((name) => name.endsWith(".json"))
    expect(notes.filter((name) => name !== "tidied.json").length).toBe(expected.length)
  },
)

test.each(layers)("with sandbox %s a bare repository that was there stays and can be pushed to", async (sandbox) => {
  const { processes, workspace } = openHere({ sandbox })
  execFileSync("git", ["init", "-q", "--bare", "store"], { cwd: workspace })
  execFileSync("git", ["init", "-q", "app"], { cwd: workspace })
  const run = (command: string) => processes.run({ command }, {})
  const work = `cd app && git -c user.name=a -c user.email=a@b.c commit -q --allow-empty -m one && git push -q ../store HEAD:refs/heads/main && git -C ../store gc -q`
  expect(await run(work)).toMatchObject({ exitCode: 0, stderr: "", sealed: [] })
  expect(await run("git -C store log main --format=%s")).toMatchObject({ stdout: "one\n" })
  const borrowed = await run("git init -q --bare b && rm b/HEAD && echo ../b > store/commondir")
  expect(borrowed).toMatchObject({ exitCode: 0, sealed: ["store/commondir"] })
  if (sandbox === "off") return
  for (const bad of ["git -C store config core.fsmonitor x", "echo x > store/hooks/post-receive", "mv store other"]) {
    expect((await run(bad)).exitCode, bad).not.toBe(0)
  }
})

test.each(layers)(
  "with sandbox %s a bare repository that a script speaks of stays if nothing in it runs",
  async (sandbox) => {
    const { processes, workspace } = openHere({ sandbox })
    mkdirSync(join(workspace, "empty"))
    const kept = "git init -q --bare store.git && git init -q --bare empty"
    expect(await processes.run({ command: kept }, {})).toMatchObject({ exitCode: 0, stderr: "", sealed: [] })
    const command = "git init -q --bare bad && git -C bad config core.fsmonitor ./x && git init -q --bare .husky"
    const { sealed } = await processes.run({ command }, {})
    expect(sealed).toContain("bad")
    expect(existsSync(join(workspace, ".husky/HEAD"))).toBe(false)
    expect(readdirSync(workspace).toSorted()).toEqual(["empty", "store.git"])
  },
)

test.each(layers)(
  "with sandbox %s a repository in a folder whose name is no text is sealed, and can be worked in",
  async (sandbox) => {
    const { processes, workspace } = openHere({ sandbox })
    execFileSync("bash", ["-c", "git init -q $'caf\\xe9'; echo x > $'caf\\xe9/.npmrc'; touch $'\\xe9.lock'"], {
      cwd: workspace,
    })
    const before = readdirSync(workspace, { encoding: "latin1" })
    const command = "cd caf*; git add -A; git -c user.name=a -c user.email=a@b.c commit -qm one; git log --format=%s"
    expect(await processes.run({ command }, {})).toMatchObject({ stdout: "one\n", exitCode: 0, sealed: [] })
    expect(readdirSync(workspace, { encoding: "latin1" })).toEqual(before)
    if (sandbox === "off") return
    for (const bad of ["git config core.fsmonitor x", "echo x > .npmrc", "echo x > .git/hooks/update"]) {
      expect((await processes.run({ command: `cd caf* && ${bad}` }, {})).exitCode, bad).not.toBe(0)
    }
  },
)
