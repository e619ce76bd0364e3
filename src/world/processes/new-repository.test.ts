import { execFileSync } from "node:child_process"
import {
  appendFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { tmpdir } from "node:os"
import { afterAll, beforeAll, expect, test } from "vitest"
import { isHarmlessRepository, makesRepository, repositoryFault } from "./new-repository.ts"
import { layers, openHere, realFolder } from "./testing.ts"

const git = (cwd: string, ...words: string[]) =>
  execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b.c", ...words], {
    cwd,
    encoding: "utf8",
    stdio: "pipe",
  })

test.each([
  ["git init", true],
  ["git init -q app", true],
  ["git clone https://example.com/a/b.git", true],
  ["mkdir app && cd app && git init && git add -A && git commit -m 'first one'", true],
  ["git -C app init", true],
  ["git clone git@example.com:a/b.git --depth 1; ls", true],
  ["git status", false],
  ["echo git init", false],
  ["git  initial", false],
  ["git init $(id)", false],
  ["git init `id`", false],
  ["git init > x", false],
  ["git init | sh", false],
  ["git init $HOME/x", false],
  ["npm run init", false],
  ["cp -r evil sub/.git # git init", false],
  ["cp -r evil sub/.git; echo 'x; git init'", false],
  ['cp -r evil sub/.git && echo "a && git clone b"', false],
  ["g''it init", true],
  ["GIT_TEMPLATE_DIR=evil git init", false],
  ["git init *", false],
  ["git init || true", false],
  ["for a in b c; do git init $a; done", false],
])("'%s' says in plain words that it makes a repository: %j", (command, expected) => {
  expect(makesRepository(command)).toBe(expected)
})

/** A repository with a commit and a remote, as a clone from another machine leaves it. */
const address = "https://example.com/a/b.git"
const model = mkdtempSync(join(tmpdir(), "qm-test-"))
beforeAll(() => {
  git(model, "init", "-q", "one")
  writeFileSync(join(model, "one/file"), "text")
  git(join(model, "one"), "add", "-A")
  git(join(model, "one"), "commit", "-qm", "first")
  git(model, "clone", "-q", "one", "two")
  git(join(model, "two"), "remote", "set-url", "origin", address)
  git(join(model, "two"), "gc", "-q")
})
afterAll(() => rmSync(model, { recursive: true }))

/** A copy of it, to be changed. */
function cloned(): string {
  const folder = realFolder()
  cpSync(join(model, "two"), folder, { recursive: true })
  return join(folder, ".git")
}

test.each([
  "https://example.com/a/b.git",
  "https://example.com:8443/a/b",
  "ssh://git@example.com/a/b.git",
  "git@example.com:a/b.git",
  "git://example.com/~ann/b",
])("what a clone of %s leaves runs nothing", (url) => {
  const path = cloned()
  const config = join(path, "config")
  const text = readFileSync(config, "utf8")
  expect(text).toContain(address)
  writeFileSync(config, text.replace(address, url))
  expect(repositoryFault(path)).toBeUndefined()
})

const put =
  (name: string, text = "x") =>
  (path: string) => {
    mkdirSync(dirname(join(path, name)), { recursive: true })
    writeFileSync(join(path, name), text)
  }
const write = (text: string) => (path: string) => appendFileSync(join(path, "config"), text)
/** As git writes it. */
const set = (key: string, value: string) => {
  const [section = "", ...rest] = key.split(/\.(?=[^.]*$)|(?<=^\w+)\./)
  const [name = "", inner] = rest.toReversed()
  return write(`[${section}${inner === undefined ? "" : ` "${inner}"`}]\n\t${name} = ${value}\n`)
}

/** Each makes git, or somebody later, run something or read settings from elsewhere. */
const plants: [string, (path: string) => void][] = [
  ["a program that watches", set("core.fsmonitor", "./x")],
  ["hooks elsewhere", set("core.hooksPath", "hooks")],
  ["a program for ssh", set("core.sshCommand", "./x")],
  ["a pager", set("core.pager", "./x")],
  ["an editor", set("core.editor", "./x")],
  ["another work tree", set("core.worktree", "/")],
  ["attributes elsewhere", set("core.attributesFile", "x")],
  ["a bare repository", set("core.bare", "true")],
  ["another format", set("core.repositoryformatversion", "1")],
  ["settings for one work tree", set("extensions.worktreeConfig", "true")],
  ["a filter", set("filter.x.clean", "./x")],
  ["a way to show differences", set("diff.external", "./x")],
  ["a way to merge", set("merge.x.driver", "./x")],
  ["an alias", set("alias.status", "!./x")],
  ["settings from elsewhere", set("include.path", "../x")],
  ["settings from elsewhere on a condition", set("includeIf.gitdir:/.path", "../x")],
  ["credentials from a program", set("credential.helper", "!./x")],
  ["a program for signatures", set("gpg.program", "./x")],
  ["a program at the other end", set("remote.origin.uploadpack", "./x")],
  ["a transport that is a program", set("remote.origin.url", "ext::sh -c x")],
  ["a remote on this machine", set("remote.origin.url", "/somewhere/else")],
  ["a remote that is an option", set("remote.origin.url", "ssh://-oProxyCommand=x/y")],
  ["another name for an address", set("url.x.insteadOf", "https://")],
  ["a submodule", set("submodule.x.update", "!./x")],
  ["a quoted key", write('[core] fsmonitor = "./x"\n')],
  ["a key on the line of its section", write("[core]fsmonitor=./x\n")],
  ["a line that goes on", write("[remote \"origin\"]\n\tfetch = \\\n\tx\n")],
  ["a section in other letters", write("[CORE]\n\tfsmonitor = ./x\n")],
  ["a comment with a line end of its own", write("; x\r[core]\r\tfsmonitor = ./x\n")],
  ["a hook", put("hooks/post-checkout")],
  ["a hook that is a folder away", put("hooks/x.sample/post-checkout")],
  ["borrowed objects", put("objects/info/alternates", "/somewhere/objects")],
  ["borrowed objects by http", put("objects/info/http-alternates", "/x")],
  ["settings for a work tree", put("config.worktree", "[core]\n\tfsmonitor = ./x\n")],
  ["another repository's settings", put("commondir", "../x\n")],
  ["submodules", put("modules/x/config")],
  ["work trees", put("worktrees/x/gitdir")],
  ["attributes", put("info/attributes", "* filter=x")],
  ["a program", put("x")],
  ["a link in the place of its settings", (path) => {
    renameSync(join(path, "config"), join(dirname(path), "settings"))
    symlinkSync("../settings", join(path, "config"))
  }],
  ["a link in the place of its hooks", (path) => {
    rmSync(join(path, "hooks"), { recursive: true })
    symlinkSync("../..", join(path, "hooks"))
  }],
  ["settings with a second name", (path) => linkSync(join(path, "config"), join(dirname(path), "second"))],
  ["a file that says where it is", (path) => {
    renameSync(path, join(dirname(path), "elsewhere"))
    writeFileSync(path, "gitdir: elsewhere\n")
  }],
  ["no settings at all", (path) => rmSync(join(path, "config"))],
] // prettier-ignore

test.each(plants)("a repository with %s is told from one that runs nothing", (_, plant) => {
  const path = cloned()
  plant(path)
  expect(repositoryFault(path)).toMatch(/./)
})

/** The same as git leaves it where nobody works in it. */
function bare(name: string, kind = "--bare"): string {
  const folder = realFolder()
  git(folder, "clone", "-q", kind, join(model, "one"), name)
  git(join(folder, name), "remote", "set-url", "origin", address)
  return join(folder, name)
}

test.each(["--bare", "--mirror"])("what a clone with %s leaves runs nothing, but not by the name .git", (kind) => {
  expect(repositoryFault(bare("store.git", kind))).toBeUndefined()
  expect(repositoryFault(bare(".git", kind))).toMatch(/config says/)
})

const says = "git init --bare store"
test.each<[string, string, string, (path: string) => void, boolean]>([
  ["it", "store", says, () => {}, true],
  ["what git reads in it", "store/config", says, () => {}, true],
  ["what makes it one", "store/HEAD", says, () => {}, true],
  ["it when nobody spoke of it", "store", "sh make.sh", () => {}, false],
  ["it with a program that watches", "store", says, set("core.fsmonitor", "./x"), false],
  ["what git reads in one with a hook", "store/config", says, put("hooks/update"), false],
  ["it with another work tree", "store", says, set("core.worktree", ".."), false],
  ["it with something of another kind", "store", says, put("notes.md"), false],
  ["something of another kind in it", "store/.envrc", says, () => {}, false],
  ["a folder that is none", "store/refs", "git init x", (path) => rmSync(join(path, "HEAD")), false],
  ["what is sealed by its name", ".husky", says, () => {}, false],
  ["what is sealed by its name and its folder's", ".config/git", says, () => {}, false],
])("of a bare repository may stay, if nothing in it runs: %s", (_, path, command, plant, expected) => {
  const top = path.replace(/^store\/.*/, "store")
  const repository = bare(top)
  plant(repository)
  expect(isHarmlessRepository(repository + path.slice(top.length), command)).toBe(expected)
})

test.each(layers)(
  "with sandbox %s a command that makes a repository keeps it, and works in it later",
  async (sandbox) => {
    const { processes, workspace } = openHere({ sandbox })
    const run = (command: string) => processes.run({ command }, {})
    expect(await run("git init -q && git init -q app")).toMatchObject({ exitCode: 0, sealed: [], stderr: "" })
    const work =
      "cd app && echo x > f && git add f && git -c user.name=a -c user.email=a@b.c commit -qm one && git log --format=%s"
    expect(await run(work)).toMatchObject({ stdout: "one\n", exitCode: 0, sealed: [] })
    expect(git(join(workspace, "app"), "log", "--format=%s")).toBe("one\n")
    if (sandbox === "auto") expect((await run("git -C app config core.fsmonitor x")).exitCode).not.toBe(0)
  },
)

test.each(layers)(
  "with sandbox %s a repository that runs something, or that nobody spoke of, does not stay",
  async (sandbox) => {
    const { processes, workspace } = openHere({ sandbox })
    const commands = [
      "git init -q a && git -C a config core.fsmonitor ./x",
      "mkdir -p t/hooks && cp /bin/true t/hooks/post-checkout && git init -q --template=t a",
      "git init -q --separate-git-dir=elsewhere a",
      "x=init; git $x -q a",
      "git init -q && git config core.fsmonitor ./x",
    ]
    for (const command of commands) {
      const { exitCode, sealed = [] } = await processes.run({ command }, {})
      expect({ command, exitCode, count: sealed.length }).toEqual({ command, exitCode: 0, count: 1 })
      expect(existsSync(join(workspace, sealed[0]!))).toBe(false)
      for (const name of readdirSync(workspace)) rmSync(join(workspace, name), { recursive: true })
    }
  },
)
