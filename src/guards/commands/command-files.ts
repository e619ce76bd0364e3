import { posix } from "node:path"
import type { Touch } from "../../core/touches.ts"
import type { CommandContext } from "./command-context.ts"
import { fromWorkspace } from "./judge-proved.ts"
import { foldersOf } from "./judge-unproved.ts"
import { isInside, pathsIn } from "./named-files.ts"
import type { Parsers } from "./parsers.ts"
import { searchScript } from "./search-script.ts"
import { canonicalProgramName } from "./wrappers.ts"

/** Limit of places that are looked at: words times the folders that the script changes to. */
const maxPlaces = 20_000

/**
 * The files in the workspace that decide what a command does: every word and input that names a file, and the files in which
 * npm and make find what they run. Relative to the workspace. An approval is bound to their content.
 */
export function commandFiles(
  { what: script, cwd }: Touch,
  { workspace, disk }: CommandContext,
  parsers: Parsers,
): readonly string[] {
  const scan = searchScript(script, parsers)
  const inputs = scan.redirects.filter(({ operator }) => operator === "<").map(({ target }) => target)
  const words = new Set([...scan.commands.flatMap(({ words }) => words.flatMap(pathsIn)), ...inputs])
  const folders = [...new Set(foldersOf(scan, posix.resolve(workspace, cwd ?? ".")))]
  const found = new Set<string>()
  let left = maxPlaces
  for (const folder of folders) {
    for (const word of words) {
      if (--left < 0) break
      const path = posix.resolve(folder, word)
      if (isInside(path, workspace) && disk.isFile(path)) found.add(path)
    }
  }
  const runners = new Set(scan.commands.map(({ words }) => canonicalProgramName(words[0] ?? "")))
  const names = [...runners].flatMap((program) => filesOfRunners.get(program) ?? [])
  if (names.length > 0) {
    // A folder named by `--prefix` or `-C` is among the words.
    const places = [...folders, ...[...words].slice(0, 100).flatMap((word) => folders.slice(0, 10).map((folder) => posix.resolve(folder, word)))] // prettier-ignore
    for (const place of new Set(places.flatMap((folder) => upTo(folder, workspace))))
      for (const name of names) if (disk.isFile(posix.join(place, name))) found.add(posix.join(place, name))
  }
  return [...found].map((path) => fromWorkspace(path, workspace)).sort()
}

const filesOfRunners = new Map<string, readonly string[]>([
  ...["npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"].map((name) => [name, ["package.json"]] as const),
  ...["make", "gmake"].map((name) => [name, ["GNUmakefile", "makefile", "Makefile"]] as const),
])

/** The folder and those above it, up to the workspace. */
function upTo(folder: string, workspace: string): string[] {
  const found: string[] = []
  for (let place = folder; isInside(place, workspace); place = posix.dirname(place)) {
    found.push(place)
    if (place === workspace) break
  }
  return found
}
