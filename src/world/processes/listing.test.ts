import { chmodSync, chownSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { expect, test } from "vitest"
import { asNobody } from "../../testing/nobody.ts"
import { onDisk, readable } from "./byte-names.ts"
import { listNames, newcomers } from "./listing.ts"
import { realFolder } from "./testing.ts"

/** What is put into a folder; a name with a slash at its end is a folder. */
const make =
  (...paths: string[]) =>
  (folder: string) => {
    for (const path of paths.map((one) => join(folder, one))) {
      mkdirSync(onDisk(path.endsWith("/") ? path : dirname(path)), { recursive: true })
      if (!path.endsWith("/")) writeFileSync(onDisk(path), "x")
    }
  }
const link = (path: string, to: string) => (folder: string) => symlinkSync(to, join(folder, path))
const remove = (path: string) => (folder: string) => rmSync(join(folder, path), { recursive: true })
const move = (from: string, to: string) => (folder: string) => renameSync(join(folder, from), join(folder, to))
const all =
  (...steps: ((folder: string) => void)[]) =>
  (folder: string) =>
    steps.forEach((step) => step(folder))
const repository = (path: string, ...more: string[]) =>
  make(...["HEAD", "config", "objects/", "refs/", ...more].map((name) => `${path}/${name}`))
const nothing = () => {}

/** What was there, what is done, and what is then new. */
const cases: [string, (folder: string) => void, (folder: string) => void, string[]][] = [
  ["a name of its own", make("a/"), make("a/.envrc", "b/.git/"), ["a/.envrc", "b/.git"]],
  ["nothing that was there", make("a/.envrc", "b/.git/"), make("a/c"), []],
  ["what is in a folder that was a file", make("notes"), all(remove("notes"), make("notes/.git/")), ["notes/.git"]],
  ["what is deep in it", make("notes"), all(remove("notes"), make("notes/a/b/.envrc")), ["notes/a/b/.envrc"]],
  ["what is in a folder that was a link", link("to", "nowhere"), all(remove("to"), make("to/.vscode/")), ["to/.vscode"]],
  ["what is in a folder that was a link to one", all(make("a/.git/"), link("to", "a")), all(remove("to"), make("to/.git/")), ["to/.git"]],
  ["a folder in the place of a link of that name", link(".vscode", "x"), all(remove(".vscode"), make(".vscode/")), [".vscode"]],
  ["a link in the place of another", link(".vscode", "x"), all(move(".vscode", "old"), link(".vscode", "y")), [".vscode"]],
  ["a folder in the place of a file of that name", make("a/.git"), all(remove("a/.git"), make("a/.git/")), ["a/.git"]],
  ["no link that nobody touched", link(".vscode", "x"), make("b"), []],
  ["a link that leads elsewhere now", all(make("s/v/a"), link(".vscode", "s/v")), all(move("s", "old"), make("s/v/b")), [".vscode"]],
  ["one that leads there by another link", all(make("s/v", "t/v"), link("to", "s"), link(".npmrc", "to/v")), all(remove("to"), link("to", "t")), [".npmrc"]],
  ["one that led nowhere and now does not", link(".npmrc", "s/n"), make("s/n"), [".npmrc"]],
  ["no link that leads nowhere now", all(make("s/n"), link(".npmrc", "s/n")), remove("s"), []],
  ["no link that is gone", link(".npmrc", "s/n"), remove(".npmrc"), []],
  ["no link made again as it was", all(make("s/n"), link(".npmrc", "s/n")), all(remove(".npmrc"), link(".npmrc", "s/n")), []],
  ["no link to a file that was written anew", all(make("s/n"), link(".npmrc", "s/n")), all(make("s/m"), move("s/m", "s/n")), []],
  ["no link that was moved with its folder", all(make("s/n", "a/"), link("a/.npmrc", "../s/n")), move("a", "b"), []],
  ["one that leads elsewhere from there", all(make("s/n", "c/s/n", "a/"), link("a/.npmrc", "../s/n")), move("a", "c/a"), ["c/a/.npmrc"]],
  ["a link by another such name", all(make("s/n"), link(".npmrc", "s/n")), move(".npmrc", ".envrc"), [".envrc"]],
  ["hooks in the place of a link to them", all(make("h/", ".git/HEAD"), link(".git/hooks", "../h")), all(remove(".git/hooks"), make(".git/hooks/x")), [".git/hooks"]],
  ["another link to hooks", all(make("h/", ".git/HEAD"), link(".git/hooks", "../h")), all(remove(".git/hooks"), make("i/x"), link(".git/hooks", "../i")), [".git/hooks"]],
  ["other hooks at its end", all(make("a/h/", ".git/HEAD"), link(".git/hooks", "../a/h")), all(move("a", "b"), make("a/h/x")), [".git/hooks"]],
  ["settings in the place of a link to them", all(make("c", "a/.git/HEAD"), link("a/.git/config", "../../c")), all(remove("a/.git/config"), make("a/.git/config")), ["a/.git/config"]],
  ["the same in a repository that was moved", all(make("c", "a/.git/HEAD"), link("a/.git/config", "../../c")), all(move("a", "b"), remove("b/.git/config"), make("b/.git/config")), ["b/.git/config"]],
  ["no hooks that nobody touched", all(make("h/", ".git/HEAD"), link(".git/hooks", "../h")), make(".git/index", "h/x"), []],
  ["a folder in the place of a link that something protected is behind", all(make("lib/fixed"), link("above", "lib")), all(remove("above"), make("above/a")), ["above"]],
  ["a repository by another name", nothing, repository("docs"), ["docs", "docs/config"]],
  ["one that shares what another has", nothing, make("docs/HEAD", "docs/commondir"), ["docs", "docs/commondir"]],
  ["one in other letters", nothing, make("docs/head", "docs/OBJECTS/", "docs/Refs/"), ["docs"]],
  ["one with links for its folders", nothing, all(make("docs/HEAD"), link("docs/objects", "/tmp"), link("docs/refs", "/tmp")), ["docs"]],
  ["no folder that lacks something of it", nothing, make("a/HEAD", "a/objects/", "b/objects/", "b/refs/", "b/commondir"), []],
  ["no repository that was there", repository("docs", "hooks/"), make("docs/refs/x", "docs/packed-refs", "docs/FETCH_HEAD"), []],
  ["what a repository that was there may not get", repository("docs"), make("docs/commondir", "docs/hooks/x", "docs/config.worktree", "docs/modules/", "docs/worktrees/"), ["docs/commondir", "docs/config.worktree", "docs/hooks", "docs/modules", "docs/worktrees"]],
  ["what makes a folder that was there a repository, not the folder", make("docs/index.md", "docs/refs/"), repository("docs", "hooks/x"), ["docs/HEAD", "docs/config", "docs/hooks", "docs/objects"]],
  ["the last part of it alone", make("docs/HEAD", "docs/config", "docs/objects/"), make("docs/refs/"), ["docs/refs"]],
  ["the same at the top", make("a"), repository("."), ["HEAD", "config", "objects", "refs"]],
  ["no repository that was moved", repository("one/docs"), move("one/docs", "moved"), []],
  ["no `.git` that has another name now", repository("a/.git"), move("a/.git", "a/old"), []],
  ["what one got that has", repository("a/.git"), all(move("a/.git", "a/old"), make("a/old/hooks/x")), ["a/old/hooks"]],
  ["what one got that was moved", repository("docs"), all(move("docs", "moved"), make("moved/commondir")), ["moved/commondir"]],
  ["a copy of one", repository("docs"), repository("copy"), ["copy", "copy/config"]],
  ["what is in a repository", repository("docs"), make("docs/refs/.vscode/"), ["docs/refs/.vscode"]],
  ["what is in a folder whose name is no text", nothing, make("caf\udce9/.git/"), ["caf%E9/.git"]],
  ["the same where the folder was there", make("caf\udce9/a/"), make("caf\udce9/a/.envrc"), ["caf%E9/a/.envrc"]],
  ["nothing there that was there", make("caf\udce9/.git/", "\ufffd/.envrc"), make("b"), []],
  ["one of two that look the same", make("\udce9/.git/"), make("\udcea/.git/"), ["%EA/.git"]],
  ["a repository whose name is no text", nothing, repository("\udce9"), ["%E9", "%E9/config"]],
] // prettier-ignore

test.each(cases)("new is %s", (_, before, act, expected) => {
  const { folder, look } = open()
  before(folder)
  const seen = look()
  act(folder)
  const made = newcomers(seen, look(seen)).map((path) => readable(path.slice(folder.length + 1)))
  expect(made.toSorted()).toEqual(expected)
})

test("what was seen before is seen again however much is new, and where not all new can be seen it says so", () => {
  const { folder, looking, look } = open()
  make("src/deep/a")(folder)
  const seen = look()
  make("new/deep/.envrc", "new/1", "new/2", "new/3", "src/deep/.envrc", "4", "5", "6")(folder)
  const found = (most: number) => {
    const after = listNames({ ...looking, most }, seen)
    return {
      isWhole: after.isWhole,
      made: newcomers(seen, after)
        .map((path) => path.slice(folder.length + 1))
        .toSorted(),
    }
  }
  expect(found(3)).toEqual({ isWhole: false, made: ["src/deep/.envrc"] })
  expect(found(5)).toEqual({ isWhole: true, made: ["new/deep/.envrc", "src/deep/.envrc"] })
})

test("what a command has closed by its mode is looked into, and what it has opened was empty before", () => {
  const { folder, look } = open()
  const close = (path: string, mode: number) => chmodSync(join(folder, path), mode)
  asNobody(
    () => chownSync(folder, 65534, 65534),
    () => {
      make("src/a", "shut/")(folder)
      close("shut", 0)
      const seen = look()
      close("shut", 0o700)
      make("src/.git/", "new/deep/.envrc", "shut/.npmrc")(folder)
      close("src", 0o311)
      close("new/deep", 0)
      close("new", 0)
      const made = newcomers(seen, look(seen)).map((path) => path.slice(folder.length + 1))
      expect(made.toSorted()).toEqual(["new/deep/.envrc", "shut/.npmrc", "src/.git"])
    },
  )
})

/** As what is above a protected path: it counts unless it is a folder. */
const isAbove = (path: string, isFolder: boolean) => basename(path) === "above" && !isFolder

function open() {
  const folder = realFolder()
  const looking = { roots: [folder], named: [], isLeftOut: () => false, isProtected: isAbove }
  return { folder, looking, look: (before?: ReturnType<typeof listNames>) => listNames(looking, before) }
}
