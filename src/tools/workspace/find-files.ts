import { lstatSync } from "node:fs"
import { availableParallelism } from "node:os"
import { StringDecoder } from "node:string_decoder"
import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import type { Files } from "../../model/files.ts"
import { FirstOf } from "./first-of.ts"
import { readGlobs } from "./glob-list.ts"
import { listOf, oneOrMany } from "./one-or-many.ts"
import { fenceFor, type Workspace } from "./options.ts"
import { runRipgrep } from "./ripgrep.ts"
import { fileFilter, hiddenInput, ignoredInput, isInsideOf, searchRoot, whichFiles } from "./search-root.ts"

/** Beyond so many matches the order is by path, unless newest first is asked for: looking at each would cost more. */
const mostToDate = 10_000
const searchMs = 20_000

/** Finds files by their names. Sealed and careful files are not found, links not followed. */
export const findFiles = (workspace: Workspace, { mostDated = mostToDate }: { mostDated?: number } = {}) =>
  defineTool({
    name: "find_files",
    group: "workspace",
    category: "search",
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
        .describe(`Left out: newest first, or by path where more than ${mostDated} match`),
      limit: z.int().min(1).max(1000).default(1000).describe("How many to return"),
      offset: z.int().min(0).default(0).describe("How many to leave out at the beginning"),
    }),
    output: z.object({
      files: z.array(z.string()),
      total: z.number(),
      truncated: z.boolean(),
      order: z.enum(["modified", "path"]),
      timedOut: z.boolean(),
    }),
    touches: ({ path }) => [{ kind: "read", what: path }],

    async execute({ pattern, path, exclude, hidden, ignored, sort, limit, offset }, context) {
      const { signal } = context
      const files = fenceFor(workspace, context)
      const globs = readGlobs([fromWorkspace(pattern, files)])
      const root = searchRoot(files, path, globs)
      const found = new Found(root.cwd, {
        most: sort === "path" ? 0 : sort === "modified" ? Infinity : mostDated,
        first: offset + limit,
      })
      const filter = fileFilter(files, root, globs, { hidden, types: [] })
      const options = whichFiles({ globs, exclude: listOf(exclude), types: [], hidden, ignored, root })
      const { timedOut } = await list(root, options, signal, (printed) => {
        const meant = filter(printed)
        if (meant !== undefined) found.add(meant, printed)
      })
      if (globs.mistake !== undefined) throw globs.mistake
      const shown = found.sorted().slice(offset).filter(isInsideOf(files, root))
      const { total, order } = found
      return { files: shown, total, truncated: offset + limit < total, order, timedOut }
    },
  })

/** One thread is as fast as two here, and takes two thirds of their work. */
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

/** What was found so far. Dates are looked up when it is known that there are not too many. */
class Found {
  total = 0
  readonly #cwd: string
  readonly #most: number
  readonly #byPath: FirstOf<string>
  readonly #byDate: FirstOf<Dated>
  /** As ripgrep printed them, with what they are called here. */
  #waiting: { path: string; printed: string }[] = []

  constructor(cwd: string, { most, first }: { most: number; first: number }) {
    this.#cwd = cwd
    this.#most = most
    this.#byPath = new FirstOf(first, (one, other) => (one < other ? -1 : 1))
    this.#byDate = new FirstOf(first, newerFirst)
  }

  get order(): "modified" | "path" {
    return this.total <= this.#most && this.#most > 0 ? "modified" : "path"
  }

  add(path: string, printed: string): void {
    this.total += 1
    this.#byPath.add(path)
    if (this.order === "path") return
    this.#waiting.push({ path, printed })
    if (this.#waiting.length > mostToDate) this.#date()
  }

  sorted(): string[] {
    if (this.order === "path") return this.#byPath.sorted()
    this.#date()
    return this.#byDate.sorted().map(({ path }) => path)
  }

  /** Only for the order: what is returned is looked at through the fence. */
  #date(): void {
    for (const { path, printed } of this.#waiting) {
      this.#byDate.add({ path, at: modifiedAt(`${this.#cwd}/${printed}`) })
    }
    this.#waiting = []
  }
}

interface Dated {
  readonly path: string
  readonly at: number
}

/** What cannot be looked at any more is old. */
function modifiedAt(file: string): number {
  try {
    return lstatSync(file).mtimeMs
  } catch {
    return 0
  }
}

function newerFirst(one: Dated, other: Dated): number {
  return other.at - one.at || (one.path < other.path ? -1 : 1)
}

function fromWorkspace(pattern: string, { workspace }: Files): string {
  return pattern.startsWith(`${workspace}/`) ? pattern.slice(workspace.length + 1) : pattern
}
