import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import type { CodeSearchResult, CodeSearch } from "./code.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { FolderIndex, type FolderIndexOptions } from "./folder-index.ts"
import { createOutliner } from "./outline.ts"
import { parseFiles } from "./parse-files.ts"
import { grammarFolder } from "./worker-file.ts"

const outlines = createOutliner(grammarFolder())

/** An index of a temporary folder. Parses in this thread and lists the files it parsed. */
export function openTestIndex(root = temporaryFolder(), options: Partial<FolderIndexOptions> = {}) {
  const parsed: string[] = []
  const index = new FolderIndex({
    root,
    shown: (paths) => Promise.resolve(paths.map(() => true)),
    parsing: {
      async parse(jobs, done) {
        parsed.push(...jobs.map(({ path }) => path))
        done(await parseFiles(root, jobs, outlines))
      },
    },
    ...options,
  })
  const signal = new AbortController().signal
  return {
    root,
    index,
    parsed,
    put(path: string, content: string | Uint8Array): void {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), content)
    },
    async find(query: string, search: Partial<CodeSearch> = {}): Promise<CodeSearchResult> {
      await index.refresh()
      const below = search.path ?? "."
      return index.find({ query, type: "all", limit: 1000, contextLines: 1, ...search }, { below }, signal)
    },
    async fill(): Promise<void> {
      while (await index.parseRemaining(signal));
    },
  }
}

/** `kind path:line:column name`, in the order of the result. */
export function describeMatches({ matches }: Pick<CodeSearchResult, "matches">): string[] {
  return matches.map(({ kind, path, line, column, name }) =>
    kind === "file" ? `file ${path}` : `${kind} ${path}:${line}:${column} ${name}`,
  )
}
