import { spawn, type ChildProcess } from "node:child_process"
import { appendFileSync, lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from "node:fs" // prettier-ignore
import { dirname, join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openFiles, openTrash } from "./files.ts"
import { bytes, folderInMemory, inventory, countDescriptorsBelow } from "./testing.ts"

/**
 * Changes places as fast as it can: a folder with a link to a folder outside, a file with a link to a file outside, a
 * folder above, and the data folder. Each pair is `name` and `name.link`.
 */
const swapper = `
  const { renameSync } = require("node:fs")
  const quietly = (from, to) => { try { renameSync(from, to); return true } catch { return false } }
  let count = 0
  const names = process.argv.slice(1)
  process.stdout.write("ready")
  for (;;) for (const name of names) {
    quietly(name, name + ".real"); quietly(name + ".link", name)
    quietly(name, name + ".link")
    // A path created meanwhile would end the swapping.
    if (!quietly(name + ".real", name)) { quietly(name, name + ".was" + count++); quietly(name + ".real", name) }
  }
`

interface Battlefield {
  workspace: string
  outside: string
  dataFolder: string
  swapped: string[]
}

function battlefield(): Battlefield {
  const dir = folderInMemory()
  const [workspace, outside] = [join(dir, "ws"), join(dir, "outside")]
  const dataFolder = join(workspace, "data")
  const pairs: [string, string][] = [
    ["dir", outside],
    ["file.txt", join(outside, "file.txt")],
    ["up/mid", outside],
    ["data", outside],
  ]
  for (const folder of ["dir/inner", "up/mid/inner", "data/backups", "data/trash"])
    mkdirSync(join(workspace, folder), { recursive: true })
  for (const folder of ["inner", "backups", "trash"]) mkdirSync(join(outside, folder), { recursive: true })
  for (const file of ["file.txt", "dir/file.txt", "dir/inner/file.txt", "up/mid/inner/file.txt"])
    writeFileSync(join(workspace, file), "inside")
  for (const file of ["file.txt", "inner/file.txt"]) writeFileSync(join(outside, file), "SECRET")
  for (const [name, target] of pairs) symlinkSync(target, join(workspace, `${name}.link`))
  return { workspace, outside, dataFolder, swapped: pairs.map(([name]) => join(workspace, name)) }
}

async function swap(names: readonly string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, ["-e", swapper, ...names], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  await new Promise((ready) => child.stdout.once("data", ready))
  return child
}

const paths = ["file.txt", "dir/file.txt", "dir/inner/file.txt", "up/mid/inner/file.txt"]
const seconds = 5
const tried = ["readSmall", "open", "facts", "write", "append", "make", "trash", "list"]

test.runIf(process.platform === "linux")(
  "while another process swaps links for five seconds, nothing outside is read or written",
  async () => {
    const { workspace, outside, dataFolder, swapped } = battlefield()
    const options = { workspace, dataFolder, backups: 2 }
    const files = openFiles(options)
    const trash = openTrash(options)
    const before = inventory(outside)
    // Only those in its folders: earlier tests may have left others that are closed by the garbage collector.
    const descriptors = countDescriptorsBelow(dirname(workspace))
    const child = await swap(swapped)
    const done: Record<string, number> = {}
    const attempt = async (name: string, work: () => unknown) => {
      let result = "refused"
      try {
        await work()
        result = "worked"
      } catch (error) {
        if ((error as Error).name === "AssertionError") throw error
      }
      done[`${name} ${result}`] = (done[`${name} ${result}`] ?? 0) + 1
    }
    const inside = (text: string) => expect(text).not.toContain("SECRET")
    let round = 0
    const start = Date.now()
    const count = (name: string, result: string) => done[`${name} ${result}`] ?? 0
    const isEnough = () =>
      tried.every((name) => count(name, "worked") > 20) && tried.filter((name) => count(name, "refused") > 0).length > 3
    // On a busy machine it takes longer until everything has worked and most has been refused.
    for (; Date.now() - start < seconds * 1000 || (!isEnough() && Date.now() - start < 60_000); round++) {
      for (const path of paths) {
        const folder = dirname(path)
        await attempt("readSmall", () => inside(files.readSmall(path, 100)!.bytes.toString()))
        await attempt("open", async () => {
          const file = await files.open(path)
          try {
            inside((await file.readAll(1000)).toString())
          } finally {
            await file.close()
          }
        })
        await attempt("facts", () => expect(files.facts(path).real.startsWith(workspace)).toBe(true))
        await attempt("write", () => files.write(path, bytes("inside")))
        await attempt("append", () => files.write(path, bytes("+"), { append: true }))
        await attempt("make", () => files.write(`${folder}/new${round % 5}/deep/x`, bytes("inside")))
        await attempt("move", () => files.move(`${folder}/new${round % 5}`, `${folder}/moved`))
        await attempt("trash", () => files.trash(`${folder}/moved`, "agent"))
        await attempt("take", () => files.trash(path, "agent"))
        await attempt("write again", () => files.write(path, bytes("inside")))
        if (folder === ".") continue
        await attempt("list", async () => {
          for (const { name } of await files.list(folder)) expect(["backups", "trash"]).not.toContain(name)
        })
      }
      if (round % 20 === 0) await attempt("restore", async () => trash.restore((await trash.list())[0]!.id))
    }
    child.kill("SIGKILL")
    await new Promise((ended) => child.once("exit", ended))
    expect(inventory(outside)).toEqual(before)
    expect(countDescriptorsBelow(dirname(workspace))).toBe(descriptors)
    expect(isEnough(), JSON.stringify(done)).toBe(true)
  },
)

test("with plain file calls the same process gets secrets read and files written outside", async () => {
  const { workspace, outside, swapped } = battlefield()
  const child = await swap(swapped)
  const isInside = (path: string) => realpathSync(path).startsWith(`${workspace}/`)
  let [reads, writes] = [0, 0]
  for (const end = Date.now() + 30_000; Date.now() < end && (reads < 5 || writes < 5);) {
    for (const path of paths.map((one) => join(workspace, one))) {
      try {
        if (isInside(path) && readFileSync(path, "utf8").includes("SECRET")) reads++
        if (isInside(dirname(path)) && !lstatSync(path).isSymbolicLink()) appendFileSync(path, "+")
      } catch {
        continue
      }
    }
    writes =
      readFileSync(join(outside, "file.txt"), "utf8").length +
      readFileSync(join(outside, "inner/file.txt"), "utf8").length -
      12
  }
  child.kill("SIGKILL")
  await new Promise((ended) => child.once("exit", ended))
  expect([reads >= 5, writes >= 5], `${reads} reads, ${writes} writes`).toEqual([true, true])
})

test("a reader sees the old or the new text of a replaced file, never a mixture", async () => {
  const dir = realpathSync(temporaryFolder())
  const [workspace, dataFolder] = [join(dir, "ws"), join(dir, "data")]
  for (const folder of [workspace, dataFolder]) mkdirSync(folder)
  const texts = ["a".repeat(200_000), "b".repeat(300_000)]
  writeFileSync(join(workspace, "f"), texts[0]!)
  const reader = `
    const { readFileSync } = require("node:fs")
    const lengths = { a: 200000, b: 300000 }
    process.stdout.write("ready")
    process.on("SIGTERM", () => process.exit(0))
    const look = () => {
      for (let at = 0; at < 50; at++) {
        const text = readFileSync(process.argv[1], "utf8")
        if (text.length !== lengths[text[0]] || new Set(text).size !== 1) { process.stdout.write("torn"); process.exit(1) }
      }
      setImmediate(look)
    }
    look()
  `
  const child = spawn(process.execPath, ["-e", reader, join(workspace, "f")], { stdio: ["ignore", "pipe", "inherit"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  await new Promise((ready) => child.stdout.once("data", ready))
  const files = openFiles({ workspace, dataFolder, backups: 0 })
  for (const end = Date.now() + 3000; Date.now() < end;) {
    for (const text of texts) await files.write("f", bytes(text))
    await new Promise((turn) => setImmediate(turn))
  }
  child.kill("SIGTERM")
  expect(await new Promise((ended) => child.once("exit", ended))).toBe(0)
  expect(readdirSync(workspace)).toEqual(["f"])
})
