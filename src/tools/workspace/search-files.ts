import { z } from "zod"
import { defineTool } from "../../schema/define-tool.ts"
import type { Files } from "../../platform/files/file-access.ts"
import { readGlobs } from "./glob-list.ts"
import { listOf, oneOrMany } from "./one-or-many.ts"
import { filesFor, isExtensionAllowed, type Workspace } from "./workspace.ts"
import { showMatches } from "./search-matches.ts"
import type { SearchPage } from "./search-page.ts"
import {
  fileFilter,
  hiddenInput,
  ignoredInput,
  stillInside,
  searchRoot,
  fileArguments,
  type SearchRoot,
} from "./search-root.ts"
import { searchAll, type Search, type SearchLimits } from "./search-run.ts"

const lines = (what: string) => z.int().min(0).max(100).optional().describe(what)

const input = z.object({
  pattern: z.string().min(1).max(10_000).describe("A regular expression as ripgrep reads it, for example log\\w*\\("),
  path: z.string().min(1).default(".").describe("The folder or file to search"),
  literal: z.boolean().default(false).describe("The pattern is plain text"),
  ignoreCase: z.boolean().default(false).describe("Letter case makes no difference"),
  word: z.boolean().default(false).describe("Only whole words"),
  multiline: z.boolean().default(false).describe("A match may go over several lines, and . fits the end of a line"),
  pcre2: z.boolean().default(false).describe("Look-around and back-references; slower"),
  glob: oneOrMany.optional().describe("Globs of the files to search, for example src/**/*.ts or *.{js,ts}"),
  exclude: oneOrMany.optional().describe("Globs of what to leave out"),
  type: oneOrMany.optional().describe("Kinds of files as ripgrep names them, for example ts, py, rust, md"),
  hidden: z.boolean().default(false).describe(hiddenInput),
  ignored: z.boolean().default(false).describe(ignoredInput),
  output: z
    .enum(["matches", "files"])
    .default("matches")
    .describe("The lines that match, or only the files with how many matches each has"),
  onlyMatching: z.boolean().default(false).describe("Only the text that matched, each match on its own"),
  context: lines("Lines to show before and after each match"),
  before: lines("Lines to show before each match"),
  after: lines("Lines to show after each match"),
  limit: z.int().min(1).max(1000).default(250).describe("How many to return"),
  offset: z.int().min(0).default(0).describe("How many to leave out at the beginning; nextOffset goes on"),
})

export type SearchInput = z.infer<typeof input>

const match = z.object({
  file: z.string(),
  line: z.number(),
  /** In UTF-16 units, from 1, of the first match in the line. */
  column: z.number(),
  match: z.string(),
  count: z.number().optional(),
  context: z.object({ before: z.array(z.string()), after: z.array(z.string()) }),
})

/**
 * Searches the content of files. ripgrep finds the matches, in any order of files. All are counted; the text of the
 * requested ones is read through `files`. Does not search protected or confirmed paths, and does not follow links.
 */
export const searchFiles = (workspace: Workspace, limits: Partial<SearchLimits> & { searchMs?: number } = {}) =>
  defineTool({
    name: "search_files",
    group: "workspace",
    category: "search",
    description:
      "Search the content of files for a regular expression or a literal text. Returns the lines that match with file, line and column, in the order of their paths, and the total of all matches even when the list is cut. What .gitignore leaves out, hidden and binary files are left out unless asked for.",
    effect: "read",
    idempotent: true,
    input,
    output: () =>
      z.object({
        matches: z.array(match).optional(),
        files: z.array(z.object({ file: z.string(), count: z.number() })).optional(),
        total: z.number(),
        fileCount: z.number(),
        truncated: z.boolean(),
        nextOffset: z.number().optional(),
        timedOut: z.boolean(),
        unreadable: z.boolean().optional(),
      }),
    touches: ({ path }) => [{ kind: "read", what: path }],

    async execute(given, context) {
      const { signal } = context
      const files = filesFor(workspace, context)
      const globs = readGlobs(given.glob === undefined ? ["**"] : listOf(given.glob))
      const root = searchRoot(files, given.path, globs)
      const which = { ...given, root, globs, exclude: listOf(given.exclude), types: listOf(given.type) }
      const filter = fileFilter(files, root, globs, which)
      const search: Search = {
        root,
        patternArguments: patternOptions(given),
        fileArguments: fileArguments(which),
        given,
        limits: { mostKept: 10_000, mostMatchLines: 50_000, ...limits },
        run: { cwd: root.cwd, signal, until: performance.now() + (limits.searchMs ?? 20_000) },
        fileOf(printed) {
          const file = filter(printed)
          return file !== undefined && isExtensionAllowed(file, workspace) ? file : undefined
        },
      }
      const found = await searchAll(search)
      if (globs.mistake !== undefined) throw globs.mistake
      const shown =
        given.output === "files" ? showFiles(files, root, found.page, given) : await showMatches(files, search, found)
      const { timedOut, unreadable } = found.end
      return { ...shown, timedOut, ...(unreadable ? { unreadable: true } : {}) }
    },
  })

function showFiles(files: Files, root: SearchRoot, found: SearchPage, { offset, limit }: SearchInput) {
  const { total, fileCount } = found
  const isInside = stillInside(files, root)
  const truncated = offset + limit < fileCount
  return {
    files: found
      .first()
      .slice(offset)
      .filter(({ file }) => isInside(file))
      .map(({ file, count }) => ({ file, count })),
    total,
    fileCount,
    truncated,
    ...(truncated ? { nextOffset: offset + limit } : {}),
  }
}

function patternOptions({ pattern, literal, ignoreCase, word, multiline, pcre2 }: SearchInput): string[] {
  return [
    ...(literal ? ["--fixed-strings"] : []),
    ...(ignoreCase ? ["--ignore-case"] : ["--case-sensitive"]),
    ...(word ? ["--word-regexp"] : []),
    ...(multiline ? ["--multiline", "--multiline-dotall"] : []),
    ...(pcre2 ? ["--pcre2"] : []),
    `--regexp=${pattern}`,
  ]
}
