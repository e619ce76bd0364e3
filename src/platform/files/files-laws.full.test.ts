import {
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import fc from "fast-check"
import { expect, test } from "vitest"
import { createPathPolicy } from "../../guards/paths/path-policy.ts"
import { pathGuard } from "../../guards/paths/path-guard.ts"
import { openFiles } from "./files.ts"
import { bytes, folderInMemory, inventory } from "./testing.ts"

/* A small tree with random links in it, and few names, so that what is made at random often meets. Of the files some have
   names that look alike and are different. */
const tree = ["f", "a/f", "a/b/f", "b/f", "é", "e\u0301", "a/ａ", "..a/f"]
const links = ["l", "m", "a/l", "a/b/m", "b/n"]
const stepOf = fc.constantFrom("a", "a", "b", "b", "l", "m", "n", "..a", ".", "", "..", "b/..", "../ws", "../outside", "../ws-evil") // prettier-ignore
const lastOf = fc.constantFrom("f", "f", "f", "l", "m", "n", "a", "é", "e\u0301", "ａ", "..", "f/", "a//", "new")
const startOf = fc.constantFrom("", "", "", "", "/WS/", "/WS/", "/OUTSIDE/", "/DIR/")
const anyOf = fc
  .tuple(startOf, fc.array(stepOf, { maxLength: 3 }), lastOf)
  .map(([start, steps, last]) => start + [...steps, last].join("/"))
const throughOf = fc.tuple(fc.constantFrom(...links), fc.constantFrom("", "", "/f", "/f", "/b/f", "/l")).map((two) => two.join("")) // prettier-ignore
const pathOf = fc.oneof(anyOf, throughOf)
const targetOf = fc.oneof(anyOf, fc.constantFrom("/WS/a", "/WS/b/f", "/WS/l", "..", "f", "../f", "b", "/OUTSIDE", "/OUTSIDE/f")) // prettier-ignore
const linksOf = fc.uniqueArray(fc.tuple(fc.constantFrom(...links), targetOf), { selector: ([at]) => at, minLength: 3 })
type Links = readonly (readonly [string, string])[]

interface Ground {
  workspace: string
  outside: string
  evil: string
  dataFolder: string
  /** A path as it is meant in these folders. */
  meant(path: string): string
}

/** Folders beside the workspace that must never be read from. */
function ground(): Ground {
  const dir = folderInMemory()
  const [workspace, outside, evil, dataFolder] = ["ws", "outside", "ws-evil", "data"].map((name) => join(dir, name)) as [string, string, string, string] // prettier-ignore
  for (const folder of [outside, evil, dataFolder]) mkdirSync(folder)
  for (const folder of [outside, evil]) for (const name of ["a", "f"]) writeFileSync(join(folder, name), "SECRET")
  const meant = (path: string) => path.replace(/^\/WS\//, `${workspace}/`).replace(/^\/OUTSIDE(?=\/|$)/, outside).replace(/^\/DIR\//, `${dir}/`) // prettier-ignore
  return { workspace, outside, evil, dataFolder, meant }
}

/** Creates the tree anew. */
function build({ workspace, meant }: Ground, made: Links): void {
  rmSync(workspace, { recursive: true, force: true })
  for (const file of tree) {
    mkdirSync(dirname(join(workspace, file)), { recursive: true })
    writeFileSync(join(workspace, file), file)
  }
  for (const [at, target] of made) symlinkSync(meant(target).replace(/(?<=.)\/+$/, ""), join(workspace, at))
}

function isIn(folder: string, path: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}

/** Returns the file that the system would open there, if that is inside. */
function truth(workspace: string, path: string): string | undefined {
  try {
    const real = realpathSync.native(path)
    return isIn(workspace, real) && statSync(real).isFile() ? readFileSync(real, "utf8") : undefined
  } catch {
    return undefined
  }
}

const attempt = async <T>(work: () => T | Promise<T>): Promise<T | undefined> => {
  try {
    return await work()
  } catch {
    return undefined
  }
}

/** The path by its text alone, without what is at its end. */
function named(workspace: string, path: string): string {
  return join(path.startsWith("/") ? "/" : workspace, path).replace(/(?<=.)\/+$/, "")
}

test.each([false, true])(
  "law: no tree of links and no way to write a path leads out (portable: %s)",
  async (portable) => {
    const here = ground()
    const { workspace, outside, evil, dataFolder, meant } = here
    const before = [inventory(outside), inventory(evil)]
    const counted = { reads: 0, through: 0, refusals: 0 }
    const law = fc.asyncProperty(linksOf, fc.array(pathOf, { minLength: 1, maxLength: 5 }), async (made, paths) => {
      build(here, made)
      const files = openFiles({ workspace, dataFolder, portable, backups: 0 })
      const guard = pathGuard(createPathPolicy({ workspace }))
      for (const path of paths.map(meant)) {
        const denied = guard.check([{ kind: "read", what: path }], {}).findings.length > 0
        const read = await attempt(() => files.readSmall(path, 100))
        expect(read?.bytes.toString(), path).toBe(truth(workspace, named(workspace, path)))
        if (denied) expect([read, await attempt(() => files.list(path))], path).toEqual([undefined, undefined])
        const facts = await attempt(() => files.facts(path))
        if (facts !== undefined) expect(isIn(workspace, facts.real), path).toBe(true)
        if (read === undefined) counted.refusals++
        else if (read.facts.real === named(workspace, path)) counted.reads++
        else counted.through++
      }
      for (const path of paths.map(meant)) {
        await attempt(() => files.write(path, bytes("inside")))
        await attempt(() => files.write(path, bytes("inside"), { append: true }))
        await attempt(() => files.move(path, "moved/to"))
        await attempt(() => files.move("moved/to", path))
        await attempt(() => files.trash(path, "agent"))
      }
      expect([inventory(outside), inventory(evil)]).toEqual(before)
    })
    await fc.assert(law, { numRuns: 150 })
    // Each case happened often enough to be meaningful.
    expect(
      Object.entries(counted).filter(([, times]) => times < 15),
      JSON.stringify(counted),
    ).toEqual([])
  },
)

test("law: a path that the guard passes is where the guard says it is", () => {
  const here = ground()
  const { workspace, meant } = here
  const law = fc.property(linksOf, pathOf, fc.boolean(), (made, path, writes) => {
    build(here, made)
    const what = meant(path)
    const { findings, extraTouches } = pathGuard(createPathPolicy({ workspace })).check(
      [{ kind: writes ? "write" : "read", what }],
      {},
    )
    if (findings.length > 0) return
    const [other] = extraTouches.filter(({ derived }) => derived !== true)
    const real = other === undefined ? named(workspace, what) : join(workspace, other.what)
    expect(isIn(workspace, real)).toBe(true)
    if (existsSync(named(workspace, what))) expect(realpathSync.native(named(workspace, what))).toBe(real)
  })
  fc.assert(law, { numRuns: 300 })
})
