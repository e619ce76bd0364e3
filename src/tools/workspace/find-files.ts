import { lstatSync } from "node:fs"
import { availableParallelism } from "node:os"
import { StringDecoder } from "node:string_decoder"
import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { Files } from "../../platform/files/file-access.ts"
import { TopItems } from "./top-items.ts"
import { readGlobs } from "./glob-list.ts"
import { listOf, oneOrMany } from "./one-or-many.ts"
import { filesFor, type Workspace } from "./workspace.ts"
import { runRipgrep } from "../../platform/ripgrep/ripgrep.ts"
import { fileFilter, hiddenInput, ignoredInput, stillInside, searchRoot, fileArguments } from "./search-root.ts"

/** With more matches, the default order is by path: reading the date of each would take too long. */
const maxDated = 10_000
const searchMs = 20_000

/** Finds files by their names. Does not find protected or confirmed paths, and does not follow links. */
export const findFiles = (workspace: Workspace, { maxToDate = maxDated }: { maxToDate?: number } = {}) =>
  defineTool({
    name: "find_files",
    group: "workspace",
    category: "file",
    description:
      "Find files by a glob such as src/**/*.ts or *.{js,ts}; a name without a slash is looked for in every folder. Newest first, with the total of all matches. What .gitignore leaves out, and hidden files, are left out unless asked for.",
    effect: "read",
    idempotent: true,
    input: z.object({
      pattern: z.string().min(1).max(1000).describe("A glob over paths from the folder, for example src/**/*.test.ts"),
      path: z.string().min(1).default(".").describe("The folder to look in"),
      exclude: oneOrMany.optional().describe("Globs of what to leave out, for example **/fixtures/**"),
      hidden: z.boolean().default(false).describe(hiddenInput),
      ignored: z.boolean().default(false).describe(ignoredInput),
      sort: z
        .enum(["modified", "path"])
        .optional()
        .describe(`Left out: newest first, or by path where more than ${maxToDate} match`),
      limit: z.int().min(1).max(1000).default(1000).describe("How many to return"),
      offset: z.int().min(0).default(0).describe("How many to leave out at the beginning"),
    }),
    output: () =>
      z.object({
        files: z.array(z.string()),
        total: z.number(),
        truncated: z.boolean(),
        order: z.enum(["modified", "path"]),
        timedOut: z.boolean(),
      }),
    touches: ({ path }) => [{ kind: "read", what: path }],

    async execute({ pattern, path, exclude, hidden, ignored, sort, limit, offset }, context) {
      const { signal } = context
      const files = filesFor(workspace, context)
      const globs = readGlobs([fromWorkspace(pattern, files)])
      const root = searchRoot(files, path, globs)
      const found = new Found(root.cwd, {
        maxDated: sort === "path" ? 0 : sort === "modified" ? Infinity : maxToDate,
        first: offset + limit,
      })
      const filter = fileFilter(files, root, globs, { hidden, types: [] })
      const options = fileArguments({ globs, exclude: listOf(exclude), types: [], hidden, ignored, root })
      const { timedOut } = await list(root, options, signal, (printed) => {
        const path = filter(printed)
        if (path !== undefined) found.add(path, printed)
      })
      if (globs.mistake !== undefined) throw globs.mistake
      const shown = found.sorted().slice(offset).filter(stillInside(files, root))
      const { total, order } = found
      return { files: shown, total, truncated: offset + limit < total, order, timedOut }
    },
  })

/** On two cores one thread is as fast as two and uses a third less processor time. */
const threads = () => (availableParallelism() <= 2 ? ["--threads=1"] : [])

async function list(
  { cwd, target }: { cwd: string; target: string | undefined },
  options: readonly string[],
  signal: AbortSignal,
  each: (printed: string) => void,
): Promise<{ timedOut: boolean }> {
  if (target === undefined) return { timedOut: false }
  const decoder = new StringDecoder("utf8")
  let rest = ""
  const onOutput = (bytes: Buffer) => {
    const names = (rest + decoder.write(bytes)).split("\0")
    rest = names.pop() ?? ""
    for (const name of names) each(name)
  }
  const command = ["--files", "--null", ...threads(), ...options, "--", target]
  return runRipgrep(command, { cwd, signal, until: performance.now() + searchMs, onOutput })
}

/** The matches so far. Reads dates only while there are not too many. */
class Found {
  total = 0
  readonly #cwd: string
  readonly #maxDated: number
  readonly #byPath: TopItems<string>
  readonly #byDate: TopItems<Dated>
  /** Not yet dated; `printed` is the path as ripgrep printed it. */
  #undated: { path: string; printed: string }[] = []

  constructor(cwd: string, { maxDated, first }: { maxDated: number; first: number }) {
    this.#cwd = cwd
    this.#maxDated = maxDated
    this.#byPath = new TopItems(first, (a, b) => (a < b ? -1 : 1))
    this.#byDate = new TopItems(first, newestFirst)
  }

  get order(): "modified" | "path" {
    return this.total <= this.#maxDated && this.#maxDated > 0 ? "modified" : "path"
  }

  add(path: string, printed: string): void {
    this.total += 1
    this.#byPath.add(path)
    if (this.order === "path") return
    this.#undated.push({ path, printed })
    if (this.#undated.length > maxDated) this.#date()
  }

  sorted(): string[] {
    if (this.order === "path") return this.#byPath.sorted()
    this.#date()
    return this.#byDate.sorted().map(({ path }) => path)
  }

  /** Only for the order. The returned paths are checked by `files`. */
  #date(): void {
    for (const { path, printed } of this.#undated) {
      this.#byDate.add({ path, at: modifiedAt(`${this.#cwd}/${printed}`) })
    }
    this.#undated = []
  }
}

interface Dated {
  readonly path: string
  readonly at: number
}

/** 0 for a file that can no longer be read. */
function modifiedAt(file: string): number {
  try {
    return lstatSync(file).mtimeMs
  } catch {
    return 0
  }
}

function newestFirst(a: Dated, b: Dated): number {
  return b.at - a.at || (a.path < b.path ? -1 : 1)
}

function fromWorkspace(pattern: string, { workspace }: Files): string {
  return pattern.startsWith(`${workspace}/`) ? pattern.slice(workspace.length + 1) : pattern
}
