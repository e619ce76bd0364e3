import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeEach, describe, expect, test } from "vitest"
import { guardWith, verdictOf, type Verdict } from "./testing.ts"

const above = mkdtempSync(join(realpathSync(tmpdir()), "quartermaster-git-"))
afterAll(() => rmSync(above, { recursive: true, force: true }))

let count = 0
let workspace: string
let mark: string
let program: string
beforeEach(() => {
  const folder = join(above, String(count++))
  workspace = join(folder, "ws")
  mark = join(folder, "ran")
  program = join(folder, "monitor")
  mkdirSync(workspace, { recursive: true })
  writeFileSync(program, `#!/bin/sh\necho >> '${mark}'\n`, { mode: 0o755 })
  git("init", "-q")
  git("commit", "-q", "--allow-empty", "-m", "first")
})

/** Runs real git in the workspace with a neutral user and without personal settings. */
function git(...args: readonly string[]): void {
  const names = ["-c", "user.name=ann", "-c", "user.email=ann@example.com", "-c", "protocol.file.allow=always"]
  const env = { PATH: process.env["PATH"], GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" }
  execFileSync("git", [...names, ...args], { cwd: workspace, env, stdio: "pipe" })
}

const setting = (text: string, file = ".git/config") => appendFileSync(join(workspace, file), text)
const monitored = () => `[core]\n\tfsmonitor = ${program}\n`

async function verdict(line: string, at = workspace): Promise<Verdict> {
  return verdictOf(await guardWith({ workspace: at, allow: ["git status", "git log", "git commit", "ls"] }), line)
    .verdict
}

/** Reports whether real git runs the program, and the guard's verdict on the same line. */
async function both(): Promise<[boolean, Verdict]> {
  rmSync(mark, { force: true })
  git("status")
  return [existsSync(mark), await verdict("git status")]
}

describe("a program named in the repository's settings never runs without asking", () => {
  test("in its configuration file", async () => {
    expect(await both()).toEqual([false, "allow"])
    setting(monitored())
    expect(await both()).toEqual([true, "ask"])
    for (const line of [
      "git commit -m x",
      "git --no-pager log",
      "git -C . log",
      "cd . && git status",
      "timeout 5 git log",
    ])
      expect([line, await verdict(line)]).toEqual([line, "ask"])
    expect(await verdict("ls")).toBe("allow")
  })

  test("in an included file", async () => {
    writeFileSync(join(workspace, "more"), monitored())
    setting("[include]\n\tpath = ../more\n")
    expect(await both()).toEqual([true, "ask"])
  })

  test("in the configuration of a worktree", async () => {
    git("config", "extensions.worktreeConfig", "true")
    expect(await both()).toEqual([false, "allow"])
    setting(monitored(), ".git/config.worktree")
    expect(await both()).toEqual([true, "ask"])
  })

  test("behind a .git that is a file or a link", async () => {
    git("worktree", "add", "-q", "../other")
    const other = join(workspace, "../other")
    expect(await verdict("git status", other)).toBe("allow")
    git("init", "-q", "--separate-git-dir", "../kept")
    expect(await both()).toEqual([false, "allow"])
    setting(monitored(), "../kept/config")
    expect(await both()).toEqual([true, "ask"])
    expect(await verdict("git status", other)).toBe("ask")
    rmSync(join(workspace, ".git"))
    symlinkSync("../kept", join(workspace, ".git"))
    expect(await both()).toEqual([true, "ask"])
  })

  test("in a folder whose settings it shares", async () => {
    mkdirSync(join(workspace, "../shared"))
    for (const name of ["objects", "refs"]) mkdirSync(join(workspace, "../shared", name))
    writeFileSync(join(workspace, "../shared/config"), monitored())
    writeFileSync(join(workspace, ".git/commondir"), "../../shared\n")
    expect(await both()).toEqual([true, "ask"])
  })

  test("in a submodule, which git reads by itself", async () => {
    git("init", "-q", "../lib")
    git("-C", "../lib", "commit", "-q", "--allow-empty", "-m", "x")
    git("submodule", "--quiet", "add", "../lib", "lib")
    expect(await both()).toEqual([false, "allow"])
    setting(monitored(), ".git/modules/lib/config")
    expect(await both()).toEqual([true, "ask"])
    expect(await verdict("git status", join(workspace, "lib"))).toBe("ask")
  })

  test("in a repository that only the index names", async () => {
    git("init", "-q", "sub")
    git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "x")
    git("add", "sub")
    expect(await both()).toEqual([false, "allow"])
    setting(monitored(), "sub/.git/config")
    expect(await both()).toEqual([true, "ask"])
  })

  test("in a folder with too many names to read", async () => {
    for (let file = 0; file < 1001; file++) writeFileSync(join(workspace, String(file)), "")
    expect(await both()).toEqual([false, "allow"])
    setting(monitored())
    expect(await both()).toEqual([true, "ask"])
  })
})

test("a work tree elsewhere asks, and so does an unreadable configuration", async () => {
  setting("[core]\n\tworktree = ..\n")
  expect(await verdict("git status")).toBe("allow")
  setting("[core]\n\tworktree = /etc\n")
  expect(await verdict("git status")).toBe("ask")
  writeFileSync(join(workspace, ".git/config"), "[core\n")
  expect(await verdict("git status")).toBe("ask")
  rmSync(join(workspace, ".git/config"))
  expect(await verdict("git status")).toBe("allow")
  writeFileSync(join(workspace, ".git/index"), "DIRC")
  expect(await verdict("git status")).toBe("ask")
})

test("an index of an unusual form asks", async () => {
  writeFileSync(join(workspace, "f"), "")
  git("add", "f")
  expect(await verdict("git status")).toBe("allow")
  for (const option of ["--split-index", "--index-version=4"]) {
    git("update-index", option)
    expect([option, await verdict("git status")]).toEqual([option, "ask"])
  }
})

test("an invalid .git in the workspace makes git use the repository above", async () => {
  const part = join(workspace, "part")
  mkdirSync(join(part, ".git"), { recursive: true })
  expect(await verdict("git status", part)).toBe("ask")
})
