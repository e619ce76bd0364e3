import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import { ToolFailure } from "../../core/ending.ts"
import type { FileFacts, Files, FolderEntry } from "../../platform/files/file-access.ts"
import type { ToolContext } from "../../core/tool.ts"
import { readGlobs } from "./glob-list.ts"
import { factsIfExists, filesFor, withSuggestions, type Workspace } from "./workspace.ts"

/** The most entries to visit; `total` is then the count so far. */
const maxVisited = 200_000

/** Lists a folder. With `recursive`, upper levels come first, so that a truncated list shows the outline. */
export const listFiles = (workspace: Workspace) =>
  defineTool({
    name: "list_files",
    group: "workspace",
    category: "file",
    description:
      "List the files and folders in a folder, hidden ones too. With recursive also what is in its folders, the nearest first; version control is not entered. A pattern is a glob over names, or over paths from the folder when it has a slash.",
    effect: "read",
    idempotent: true,
    input: () =>
      z.object({
        path: z.string().min(1).default(".").describe("The folder, for example src"),
        recursive: z.boolean().default(false).describe("Also what is in its folders"),
        pattern: z.string().min(1).max(1000).optional().describe("A glob, for example *.ts or src/**/*.test.ts"),
        limit: z.int().min(1).max(1000).default(1000).describe("How many to return"),
        offset: z.int().min(0).default(0).describe("How many to leave out at the beginning"),
      }),
    output: () =>
      z.object({
        path: z.string(),
        files: z.array(
          z.object({
            name: z.string(),
            path: z.string(),
            type: z.enum(["file", "directory", "link", "special"]),
            size: z.number(),
            modified: z.number().nullable(),
          }),
        ),
        total: z.number(),
        truncated: z.boolean(),
      }),
    touches: ({ path }) => [{ kind: "read", what: path }],

    async execute({ path, recursive, pattern, limit, offset }, context) {
      const { signal } = context
      const files = filesFor(workspace, context)
      const globs = pattern === undefined ? undefined : readGlobs([pattern])
      if (globs?.mistake !== undefined) throw globs.mistake
      const folder = await entriesOf(files, path).catch((error: unknown) => {
        throw withSuggestions(error, path, files)
      })
      const start = files.normalize(path)
      const found: Found[] = []
      let total = 0
      let visited = 0
      for await (const entry of entriesBelow(files, start, folder, recursive, context.mayRead)) {
        signal.throwIfAborted()
        visited += 1
        if (visited > maxVisited) break
        if (globs !== undefined && !globs.matches(entry.below)) continue
        if (total >= offset && found.length < limit) found.push(entry)
        total += 1
      }
      const shown = found.map((entry) => describe(files, entry))
      return { path: start, files: shown, total, truncated: visited > maxVisited || offset + found.length < total }
    },
  })

interface Found extends FolderEntry {
  /** Relative to the workspace, and to the listed folder. */
  readonly path: string
  readonly below: string
}

/** Entries level by level. A folder that cannot be read is listed but not entered. */
async function* entriesBelow(
  files: Files,
  start: string,
  first: readonly FolderEntry[],
  recursive: boolean,
  mayRead: ToolContext["mayRead"],
): AsyncGenerator<Found> {
  const queue: { path: string; below: string; entries?: readonly FolderEntry[] }[] = [
    { path: start === "." ? "" : `${start}/`, below: "", entries: first },
  ]
  for (let at = 0; at < queue.length; at++) {
    const { path, below, entries } = queue[at]!
    for (const entry of entries ?? (await entriesIfOpen(files, path))) {
      yield { ...entry, path: path + entry.name, below: below + entry.name }
      // A folder that a rule may deny is listed but not entered.
      if (mayRead?.(path + entry.name) === false) continue
      if (!recursive || entry.kind !== "folder" || versionControl.has(entry.name)) continue
      queue.push({ path: `${path}${entry.name}/`, below: `${below}${entry.name}/` })
    }
    queue[at] = { path, below }
  }
}

const versionControl: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj"])

async function entriesOf(files: Files, path: string): Promise<FolderEntry[]> {
  const entries = await files.list(path)
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

async function entriesIfOpen(files: Files, path: string): Promise<FolderEntry[]> {
  try {
    return await entriesOf(files, path.slice(0, -1))
  } catch (error) {
    if (error instanceof ToolFailure) return []
    throw error
  }
}

/** An entry that cannot be read, such as a link to outside, has no size and no date. */
function describe(files: Files, { name, path, kind }: Found) {
  const facts = readableFacts(files, path)
  const type = kind === "folder" ? ("directory" as const) : kind
  return {
    name,
    path,
    type,
    size: kind === "file" ? (facts?.size ?? 0) : 0,
    modified: facts === undefined ? null : Math.floor(facts.modifiedAt),
  }
}

function readableFacts(files: Files, path: string): FileFacts | undefined {
  try {
    return factsIfExists(files, path)
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}
