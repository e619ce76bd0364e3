import { z } from "zod"
import { defineTool } from "../../model/define-tool.ts"
import { ToolFailure } from "../../model/ending.ts"
import type { FileFacts, Files, FolderEntry } from "../../model/files.ts"
import type { ToolContext } from "../../model/tool.ts"
import { readGlobs } from "./glob-list.ts"
import { factsIfThere, fenceFor, withNearNames, type Workspace } from "./options.ts"

/** More are not looked at; `total` is then what was counted so far. */
const mostLooked = 200_000

/** Lists a folder. Below it, nearer things come first, so that a list that is cut shows the outline. */
export const listFiles = (workspace: Workspace) =>
  defineTool({
    name: "list_files",
    group: "workspace",
    category: "file",
    description:
      "List the files and folders in a folder, hidden ones too. With recursive also what is in its folders, the nearest first; version control is not entered. A pattern is a glob over names, or over paths from the folder when it has a slash.",
    effect: "read",
    idempotent: true,
    input: z.object({
      path: z.string().min(1).default(".").describe("The folder, for example src"),
      recursive: z.boolean().default(false).describe("Also what is in its folders"),
      pattern: z.string().min(1).max(1000).optional().describe("A glob, for example *.ts or src/**/*.test.ts"),
      limit: z.int().min(1).max(1000).default(1000).describe("How many to return"),
      offset: z.int().min(0).default(0).describe("How many to leave out at the beginning"),
    }),
    output: z.object({
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
      const files = fenceFor(workspace, context)
      const globs = pattern === undefined ? undefined : readGlobs([pattern])
      if (globs?.mistake !== undefined) throw globs.mistake
      const folder = await entriesOf(files, path).catch((error: unknown) => {
        throw withNearNames(error, path, files)
      })
      const start = files.normal(path)
      const found: Found[] = []
      let total = 0
      let looked = 0
      for await (const one of walk(files, start, folder, recursive, context.mayRead)) {
        signal.throwIfAborted()
        looked += 1
        if (looked > mostLooked) break
        if (globs !== undefined && !globs.fits(one.below)) continue
        if (total >= offset && found.length < limit) found.push(one)
        total += 1
      }
      const shown = found.map((one) => describe(files, one))
      return { path: start, files: shown, total, truncated: looked > mostLooked || offset + found.length < total }
    },
  })

interface Found extends FolderEntry {
  /** From the workspace, and from the folder that is listed. */
  readonly path: string
  readonly below: string
}

/** Level by level. A folder that cannot be entered is listed and passed over. */
async function* walk(
  files: Files,
  start: string,
  first: readonly FolderEntry[],
  recursive: boolean,
  mayRead: ToolContext["mayRead"],
): AsyncGenerator<Found> {
  const waiting: { path: string; below: string; entries?: readonly FolderEntry[] }[] = [
    { path: start === "." ? "" : `${start}/`, below: "", entries: first },
  ]
  for (let at = 0; at < waiting.length; at++) {
    const { path, below, entries } = waiting[at]!
    for (const entry of entries ?? (await entriesIfOpen(files, path))) {
      yield { ...entry, path: path + entry.name, below: below + entry.name }
      // A folder that rules are about is named and not looked into.
      if (mayRead?.(path + entry.name) === false) continue
      if (!recursive || entry.kind !== "folder" || versionControl.has(entry.name)) continue
      waiting.push({ path: `${path}${entry.name}/`, below: `${below}${entry.name}/` })
    }
    waiting[at] = { path, below }
  }
}

const versionControl: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj"])

async function entriesOf(files: Files, path: string): Promise<FolderEntry[]> {
  const entries = await files.list(path)
  return entries.sort((one, other) => (one.name < other.name ? -1 : 1))
}

async function entriesIfOpen(files: Files, path: string): Promise<FolderEntry[]> {
  try {
    return await entriesOf(files, path.slice(0, -1))
  } catch (error) {
    if (error instanceof ToolFailure) return []
    throw error
  }
}

/** What cannot be looked at closer, such as a link that leads outside, has no size and no date. */
function describe(files: Files, { name, path, kind }: Found) {
  const facts = factsOrNothing(files, path)
  const type = kind === "folder" ? ("directory" as const) : kind
  return {
    name,
    path,
    type,
    size: kind === "file" ? (facts?.size ?? 0) : 0,
    modified: facts === undefined ? null : Math.floor(facts.modifiedAt),
  }
}

function factsOrNothing(files: Files, path: string): FileFacts | undefined {
  try {
    return factsIfThere(files, path)
  } catch (error) {
    if (error instanceof ToolFailure) return undefined
    throw error
  }
}
