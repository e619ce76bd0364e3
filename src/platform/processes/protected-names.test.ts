import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { expect, test } from "vitest"
import { foldersToProtect, namesToProtect, makesRepository, secretsBelow } from "./protected-names.ts"
import { readProtectedPatterns } from "./protected-patterns.ts"
import { realTemporaryFolder } from "./testing.ts"

/** A folder with these files; paths that end with a slash are folders. */
function folderWith(...paths: string[]): string {
  const folder = realTemporaryFolder()
  for (const path of paths) {
    mkdirSync(join(folder, path.endsWith("/") ? path : dirname(path)), { recursive: true })
    if (!path.endsWith("/")) writeFileSync(join(folder, path), "")
  }
  return folder
}

test("names are protected in the roots, in the command's folder and above it, and in git submodules", () => {
  const root = folderWith("a/b/c/", "a/other/", "libs/one/deep/", "libs/two/", "linked/", ".git/hooks/")
  const outside = realTemporaryFolder()
  symlinkSync("linked", join(root, "link"))
  const modules = ["libs/one", '"libs/two"', "link", "gone", "../x", ".", outside].map((path) => `[submodule "x"]\n\tpath = ${path}\n`) // prettier-ignore
  writeFileSync(join(root, ".gitmodules"), modules.join(""))
  writeFileSync(join(root, "libs/one/.gitmodules"), '[submodule "deep"]path=deep')
  const seen = (cwd: string) => foldersToProtect([root, outside], join(root, cwd)).map((path) => relative(root, path))
  const always = ["", relative(root, outside), "libs/one", "libs/one/deep", "libs/two"].toSorted()
  expect(seen(".").toSorted()).toEqual(always)
  expect(seen("a/b/c").toSorted()).toEqual([...always, "a", "a/b", "a/b/c"].toSorted())
  expect(seen(".git/hooks").toSorted()).toEqual(always)
})

const nothing = { isProtected: () => false, unapproved: false, makesRepository: false }
const asked = { ...nothing, unapproved: false }
const unapproved = { ...nothing, unapproved: true }

/** Reports whether an existing name is absent, read-only or open. */
function doneTo(path: string, holding = nothing): string {
  const folder = folderWith(path)
  const { protectedPaths, hidden } = namesToProtect(folder, holding)
  const isIn = (held: string) => join(folder, path).startsWith(held.replace(/\/$/, ""))
  return hidden.some(isIn) ? "absent" : protectedPaths.some(({ path }) => isIn(path)) ? "read-only" : "open"
}

test.each([
  [".npmrc", "read-only", "absent"],
  [".vscode/tasks.json", "read-only", "read-only"],
  [".gitmodules", "read-only", "read-only"],
  [".config/git/config", "read-only", "read-only"],
  [".git/config", "read-only", "read-only"],
  [".git/hooks/pre-commit", "read-only", "read-only"],
  [".git/objects/x", "open", "open"],
  [".ssh/config", "absent", "absent"],
  ["server.key", "absent", "absent"],
  [".env", "open", "absent"],
  [".env.example", "open", "open"],
  [".env~", "open", "absent"],
  ["credentials.json", "open", "absent"],
  [".aws/credentials", "open", "absent"],
  [".docker/config.json", "open", "absent"],
  [".config/gh/hosts.yml", "read-only", "absent"],
  [".config/own/x", "read-only", "read-only"],
  ["package.json", "open", "read-only"],
  ["Makefile", "open", "read-only"],
  [".github/workflows/ci.yml", "open", "read-only"],
  ["src/package.json", "open", "open"],
  ["index.js", "open", "open"],
])("%s is %s in an approved command and %s in an unapproved one", (path, whenApproved, whenUnapproved) => {
  expect([doneTo(path, asked), doneTo(path, unapproved)]).toEqual([whenApproved, whenUnapproved])
})

test("missing files that would run by themselves are protected in an unapproved command", () => {
  const held = (holding: typeof nothing) =>
    namesToProtect(folderWith(), holding).protectedPaths.map(({ path }) => basename(path))
  expect(held(unapproved)).toEqual(expect.arrayContaining([".mcp.json", ".envrc", ".npmrc", ".claude"]))
  expect(held(asked)).not.toContain(".mcp.json")
})

test.each([
  ["[remote]\n\turl = https://github.com/a/b.git", "read-only"],
  ["[remote]\n\turl = ssh://git@github.com/a/b.git", "read-only"],
  ["[remote]\n\turl = https://ann:word@github.com/a/b.git", "absent"],
  ["[remote]\n\turl = https://ghp_x@github.com/a/b.git", "absent"],
  ['[http "x"]\n\textraHeader = Authorization: x', "absent"],
])("in an unapproved command a git configuration of %j is %s", (text, expected) => {
  const folder = folderWith(".git/config")
  writeFileSync(join(folder, ".git/config"), text)
  const { hidden } = namesToProtect(folder, unapproved)
  expect(hidden).toEqual(expected === "absent" ? [join(folder, ".git/config")] : [])
})

test.each([
  ["git init", true],
  ["git init -q app && cd app", true],
  ["git clone https://example.com/a/b.git", true],
  ["mkdir app; git init", true],
  ["git status", false],
  ["echo git init", false],
  ["git initial", false],
  ["git init $(id)", false],
  ["git init > x", false],
  ["git init | sh", false],
  ["cp -r evil .git # git init", false],
  ["cp -r evil .git; echo 'x; git init'", false],
  ["GIT_TEMPLATE_DIR=evil git init", false],
])("'%s' plainly says that it creates a repository: %j", (command, expected) => {
  expect(makesRepository(command)).toBe(expected)
})

test("a missing repository is protected, except from a command that says it creates one", () => {
  const has = (holding: typeof nothing) =>
    namesToProtect(realTemporaryFolder(), holding).protectedPaths.some(({ path }) => path.includes(".git/"))
  expect([has(nothing), has({ ...nothing, makesRepository: true })]).toEqual([true, false])
})

test.each([
  ["src/b.js", ["src/b.js"]],
  ["src/new.js", ["src/new.js/"]],
  ["gone/new.js", []],
  ["migrations/**", ["migrations"]],
  ["migrations/", ["migrations"]],
  ["packages/*/db", ["packages/a/db"]],
  ["packages/?/*.sql", ["packages/a/x.sql", "packages/b/y.SQL"]],
  ["packages/**/*.sql", ["packages"]],
  ["**/*.sql", []],
  ["*.sql", []],
])("the protected pattern %s protects %j", (pattern, expected) => {
  const workspace = folderWith("src/b.js", "migrations/1", "packages/a/db/x", "packages/a/x.sql", "packages/b/y.SQL")
  const held = readProtectedPatterns([pattern], { workspace }).paths()
  expect(held.map(({ path }) => path.slice(workspace.length + 1)).toSorted()).toEqual(expected)
})

test("secrets are found by their names in every folder, and too many names are not looked at", () => {
  const secrets = ["apps/api/.env", "infra/id_rsa", "a/.aws/credentials", "a/.config/gh/hosts.yml", "x/y/z/prod.pem"]
  const root = folderWith(...secrets, "apps/api/.env.example", "src/main.ts", "node_modules/x/.env", ".git/config")
  symlinkSync("/etc", join(root, "link"))
  const hidden = ["a/.aws", "a/.config/gh", "apps/api/.env", "infra/id_rsa", "x/y/z/prod.pem"]
  expect(
    secretsBelow([root])
      ?.map((path) => relative(root, path))
      .toSorted(),
  ).toEqual(hidden)
  expect(secretsBelow([root], 5)).toBeUndefined()
})
