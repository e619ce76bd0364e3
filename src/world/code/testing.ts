import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { CodeFound, CodeSearch } from "../../model/code.ts"
import { temporaryFolder } from "../../testing/open.ts"
import { Keeper, type KeeperOptions } from "./keeper.ts"
import { outliner } from "./outline.ts"
import { parseHere } from "./parse-here.ts"
import { grammarFolder } from "./worker-file.ts"

const outlines = outliner(grammarFolder())

/** A keeper of a folder of its own that parses in this thread, and tells what it parsed. */
export function openKeeper(root = temporaryFolder(), options: Partial<KeeperOptions> = {}) {
  const parsed: string[] = []
  const keeper = new Keeper({
    root,
    shown: (paths) => Promise.resolve(paths.map(() => true)),
    parsing: {
      async parse(jobs, done) {
        parsed.push(...jobs.map(({ path }) => path))
        done(await parseHere(root, jobs, outlines))
      },
    },
    ...options,
  })
  const signal = new AbortController().signal
  return {
    root,
    keeper,
    parsed,
    put(path: string, content: string | Uint8Array): void {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    },
    async find(query: string, search: Partial<CodeSearch> = {}): Promise<CodeFound> {
      await keeper.look()
      const below = search.path ?? "."
      return keeper.find({ query, type: "all", limit: 1000, contextLines: 1, ...search }, { below }, signal)
    },
    async fill(): Promise<void> {
      while (await keeper.fill(signal));
    },
  }
}

/** `kind path:line:column name`, in the order of the answer. */
export function places({ matches }: Pick<CodeFound, "matches">): string[] {
  return matches.map(({ kind, path, line, column, name }) =>
    kind === "file" ? `file ${path}` : `${kind} ${path}:${line}:${column} ${name}`,
  )
}
