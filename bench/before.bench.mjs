/**
 * The same governed call in another commit and in this build, in one run: `npm run bench -- before <git ref>`. The
 * smoke takes the commit that is checked out, so that it needs no history.
 */
import { execFileSync } from "node:child_process"
import { mkdirSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { callRow } from "./call.ours.mjs"

export const name = "One governed call, before and now"
export const reference = "before"
export const floor = "before"

const kinds = [
  { what: "", options: {} },
  { what: ", with effect write", options: { effect: "write" } },
  { what: ", 64 in flight", options: { together: 64 } },
]

export const rows = kinds.flatMap(({ what, options }) => [
  callRow({ row: `before${what}`, reference: `before${what}`, dist: process.env.QM_BENCH_BEFORE, ...options }),
  callRow({ row: `now${what}`, reference: `before${what}`, ...options }),
])

/** Builds the other commit. The processes of the rows find it by QM_BENCH_BEFORE. */
export function setUp({ argument: ref, folder, smoke, say }) {
  if (ref === undefined && !smoke) throw new Error("Name what to compare with: npm run bench -- before <git ref>")
  const root = fileURLToPath(new URL("..", import.meta.url))
  const other = join(folder, "before")
  mkdirSync(other)
  say("building the other commit")
  const source = execFileSync("git", ["archive", "--format=tar", ref ?? "HEAD"], { cwd: root, maxBuffer: 1e9 })
  execFileSync("tar", ["-x", "-C", other], { input: source })
  symlinkSync(join(root, "node_modules"), join(other, "node_modules"))
  execFileSync(process.execPath, ["scripts/build.mjs"], { cwd: other, stdio: ["ignore", 2, 2] })
  process.env.QM_BENCH_BEFORE = pathToFileURL(join(other, "dist", "index.js")).href
}
