import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { findProject } from "./find-project.ts"
import { loadConfig } from "./load.ts"
import { trust } from "./trust.ts"

/** A home with `~/project/src/deep`, and the search from a folder in it. */
function makeHome() {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "quartermaster-project-")))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  const home = join(root, "home")
  const project = join(home, "project")
  const deep = join(project, "src", "deep")
  mkdirSync(deep, { recursive: true })
  return { root, home, project, deep, find: (cwd = deep) => findProject(cwd, home) }
}

test.each(["quartermaster.yml", "quartermaster.yaml", "quartermaster.json", ".quartermaster"])(
  "%s makes its folder the project of every folder below",
  (name) => {
    const { project, deep, find } = makeHome()
    expect(find()).toBeUndefined()
    if (name.startsWith(".")) mkdirSync(join(project, name))
    else writeFileSync(join(project, name), "{}")
    for (const folder of [project, join(project, "src"), deep]) expect(find(folder)).toBe(project)
  },
)

test("configuration and data come from the nearest folder with either, never one from each", () => {
  const { home, project, deep } = makeHome()
  trust(write(join(project, "quartermaster.yml"), "agent: root"), home, {})
  const load = () => loadConfig({ cwd: deep, home, env: {} })
  expect(load()).toMatchObject({
    config: { agent: "root" },
    trusted: true,
    project,
    workspace: project,
    dataDir: join(project, ".quartermaster"),
  })
  const nearer = join(project, "src")
  mkdirSync(join(nearer, ".quartermaster"))
  expect(load()).toMatchObject({ config: {}, project: nearer, workspace: nearer })
  expect(load()).toMatchObject({ files: [], dataDir: join(nearer, ".quartermaster") })
})

test("a file that is found above is trusted only as it was pinned; a configured workspace counts", () => {
  const { home, project, deep } = makeHome()
  const file = write(join(project, "quartermaster.yml"), "agent: root\nworkspace: src")
  const load = () => loadConfig({ cwd: deep, home, env: {} })
  expect(load()).toMatchObject({ config: {}, trusted: false, workspace: project })
  trust(file, home, {})
  expect(load()).toMatchObject({ config: { agent: "root" }, trusted: true, workspace: join(project, "src") })
})

test("a file given by path brings its data folder; the workspace stays the working folder", () => {
  const { home, project, deep } = makeHome()
  write(join(project, "quartermaster.yml"), "agent: root")
  const given = write(join(home, "given.yml"), "agent: ada")
  expect(loadConfig({ cwd: deep, home, env: {}, configPath: given })).toMatchObject({
    config: { agent: "ada" },
    project: home,
    dataDir: join(home, ".quartermaster"),
    workspace: deep,
  })
})

test("home and the user's configuration folder count only as the working folder", () => {
  const { home, deep, find } = makeHome()
  mkdirSync(join(home, ".quartermaster"))
  expect(find()).toBeUndefined()
  expect(find(home)).toBe(home)
  const own = join(home, ".config", "quartermaster")
  mkdirSync(join(own, "below"), { recursive: true })
  write(join(own, "quartermaster.yml"), "agent: ada")
  expect(find(join(own, "below"))).toBeUndefined()
  expect(find(own)).toBe(own)
  const inDeep = loadConfig({ cwd: deep, home, env: {} })
  expect(inDeep).toMatchObject({ config: { agent: "ada" }, dataDir: join(deep, ".quartermaster") })
  expect(inDeep.project).toBeUndefined()
})

test("outside home a project is found from the folders below it, too", () => {
  const { root, find } = makeHome()
  const elsewhere = join(root, "elsewhere")
  const below = join(elsewhere, "below", "deep")
  mkdirSync(below, { recursive: true })
  write(join(elsewhere, "quartermaster.yml"), "{}")
  for (const folder of [below, join(elsewhere, "below"), elsewhere]) expect(find(folder)).toBe(elsewhere)
})

test("a home that does not exist, as in a container, keeps no project from being found", () => {
  const { root, project, deep } = makeHome()
  write(join(project, "quartermaster.yml"), "{}")
  expect(findProject(deep, join(root, "nobody"))).toBe(project)
})

test("the search goes on above home, which is passed over", () => {
  const { root, home, find } = makeHome()
  mkdirSync(join(home, ".quartermaster"))
  write(join(root, "quartermaster.yml"), "{}")
  expect(find()).toBe(root)
})

test.each([["the project"], ["a folder between"], ["the working folder"]])(
  "the search does not go up through %s when everybody can write to it",
  (which) => {
    const { project, deep, find } = makeHome()
    write(join(project, "quartermaster.yml"), "{}")
    expect(find()).toBe(project)
    chmodSync({ "the project": project, "a folder between": join(project, "src") }[which] ?? deep, 0o1777)
    expect(find()).toBeUndefined()
  },
)

test.runIf(process.getuid?.() === 0)("the search does not go up through a folder of another user", () => {
  const { project, deep, find } = makeHome()
  write(join(project, "quartermaster.yml"), "{}")
  for (const folder of [project, join(project, "src"), deep]) {
    chownSync(folder, 65534, 65534)
    expect(find()).toBeUndefined()
    chownSync(folder, 0, 0)
  }
  expect(find()).toBe(project)
})

test("a link is followed before the search: the folders above its target count, not those above the link", () => {
  const { root, home, project, find } = makeHome()
  write(join(project, "quartermaster.yml"), "{}")
  const outside = join(root, "outside")
  mkdirSync(outside)
  symlinkSync(outside, join(project, "out"))
  expect(find(join(project, "out"))).toBeUndefined()
  symlinkSync(join(project, "src"), join(home, "in"))
  expect(find(join(home, "in"))).toBe(project)
  symlinkSync(home, join(root, "linked-home"))
  expect(findProject(join(project, "src"), join(root, "linked-home"))).toBe(project)
})

test("a data folder that is a link is found, so that it is refused instead of passed over", () => {
  const { project, find } = makeHome()
  write(join(project, "quartermaster.yml"), "{}")
  symlinkSync("/nowhere", join(project, "src", ".quartermaster"))
  expect(find()).toBe(join(project, "src"))
})

test("a folder that is gone has no project", () => {
  const { deep, find } = makeHome()
  expect(find(join(deep, "gone"))).toBeUndefined()
})

function write(file: string, text: string): string {
  writeFileSync(file, text)
  return file
}
