import { counted } from "../../lib/counted.ts"
import { z } from "zod"
import { codeKinds, codeTypes, type CodeIndex, type CodeSearch } from "../../platform/code/code.ts"
import { defineTool } from "../../schema/define-tool.ts"
import type { Files } from "../../platform/files/file-access.ts"
import { textSearchFallback } from "./text-search-fallback.ts"

const input = z.object({
  query: z
    .string()
    .trim()
    .min(1)
    .max(500)
    .describe(
      "The name of a function, class, variable or file or a part of it; * and ? make it a glob over whole names; Class.method works too",
    ),
  type: z
    .enum(codeTypes)
    .default("all")
    .describe("What to look for; class also means interface, struct, enum, type and trait"),
  path: z.string().min(1).default(".").describe("Only in this folder or file"),
  match: z
    .enum(["exact", "contains", "glob"])
    .optional()
    .describe("How the query is meant; left out: glob if it has a wildcard, else contains in any letter case"),
  language: z.string().min(1).max(50).optional().describe("Only this language, for example typescript, python, go"),
  limit: z.int().min(1).max(1000).default(50).describe("How many to return"),
  contextLines: z.int().min(0).max(10).default(2).describe("Lines to show before and after each"),
})

export type CodeQueryInput = z.infer<typeof input>

const match = z.object({
  path: z.string(),
  line: z.number(),
  column: z.number(),
  kind: z.enum(codeKinds),
  name: z.string(),
  container: z.string().optional(),
  language: z.string(),
  method: z.enum(["syntax", "search", "name"]),
  code: z.string(),
  context: z.string(),
})

/** Finds declarations in the syntax tree. The index has only files that the agent may read. */
export const codeQuery = (files: Files, index: CodeIndex) =>
  defineTool({
    name: "code_query",
    group: "code",
    category: "code",
    description:
      "Find where functions, classes, variables and files of the code base are declared, by name. Reads the syntax tree of TypeScript, JavaScript, Python, Go, Rust, Java, C and C++; source code in other languages is searched plainly (method: search). The best fits come first. Hidden files, node_modules and what .gitignore leaves out are left out unless path names them.",
    effect: "read",
    idempotent: true,
    input,
    output: () =>
      z.object({
        query: z.string(),
        type: z.enum(codeTypes),
        matches: z.array(match),
        total: z.number(),
        truncated: z.boolean(),
        files: z.number(),
        searched: z.number(),
        note: z.string().optional(),
      }),
    fallback: [textSearchFallback],
    touches: ({ path }) => [{ kind: "read", what: path }],

    async execute(given, { allowedPaths, mayRead, signal }) {
      const fence = files.within(allowedPaths, mayRead)
      const { path } = fence.facts(given.path)
      const search: CodeSearch = { ...given, path, language: given.language?.toLowerCase() }
      const isNarrow = allowedPaths !== undefined || mayRead !== undefined
      const allows = !isNarrow ? undefined : (one: string) => fence.isShown(one)
      const { matches, total, files: asked, searched, pending } = await index.find(search, { allows, signal })
      const note =
        pending === 0
          ? {}
          : {
              note: `${counted(pending, "file")} are still being read and are not in this answer. Ask again in a moment, or name a path.`,
            }
      const { query, type } = given
      return { query, type, matches, total, truncated: matches.length < total, files: asked, searched, ...note }
    },
  })
