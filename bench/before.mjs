/** Builds another commit beside this one and measures the same calls in both: `node bench/before.mjs <git ref>`. */
import { execFileSync } from "node:child_process"
import { mkdirSync, rmSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"

const [ref, ...rest] = process.argv.slice(2)
if (ref === undefined) {
  console.error("Usage: node bench/before.mjs <git ref> [--rounds 5]")
  process.exit(2)
}
const root = fileURLToPath(new URL("..", import.meta.url))
const other = join(root, "bench", ".tmp", "before")
const run = (command, args, cwd, env = {}) =>
  execFileSync(command, args, { cwd, stdio: "inherit", env: { ...process.env, ...env } })

remove()
try {
  mkdirSync(join(root, "bench", ".tmp"), { recursive: true })
  run("git", ["worktree", "add", "--detach", other, ref], root)
  symlinkSync(join(root, "node_modules"), join(other, "node_modules"))
  run(process.execPath, ["scripts/build.mjs"], other)
  const dist = pathToFileURL(join(other, "dist", "index.js")).href
  run(process.execPath, ["bench/run.mjs", "before", ...rest], root, { QM_BENCH_BEFORE: dist })
} finally {
  remove()
}

function remove() {
  rmSync(other, { recursive: true, force: true })
  run("git", ["worktree", "prune"], root)
}
