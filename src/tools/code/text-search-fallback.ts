import { z } from "zod"
import { missingGrammars } from "../../platform/code/code.ts"
import type { Fallback } from "../../core/tool.ts"
import type { CodeQueryInput } from "./code-query.ts"

/** The fallback of code_query when the index fails: a text search for the name in all files. */
export const textSearchFallback: Fallback = {
  tool: "search_files",

  toInput(given) {
    const { query, path, match, limit, contextLines } = given as CodeQueryInput
    const isGlob = match === "glob" || (match === undefined && /[*?]/.test(query))
    return {
      pattern: isGlob ? `\\b${globPattern(query)}\\b` : query,
      literal: !isGlob,
      ignoreCase: match !== "exact",
      word: match === "exact",
      path,
      limit,
      context: contextLines,
    }
  },

  toResult(result, given) {
    const { query, type } = given as CodeQueryInput
    const { matches, total, truncated, fileCount } = found.parse(result)
    return {
      query,
      type,
      matches: matches.map(({ file, line, column, match, context: { before, after } }) => ({
        path: file,
        line,
        column,
        kind: "text",
        name: query,
        language: "text",
        method: "search",
        code: match.trim(),
        context: [...before, match, ...after].join("\n"),
      })),
      total,
      truncated,
      files: fileCount,
      searched: fileCount,
      note: `${missingGrammars() ?? "The syntax could not be read."} The text was searched.`,
    }
  },
}

const found = z.object({
  matches: z.array(
    z.object({
      file: z.string(),
      line: z.number(),
      column: z.number(),
      match: z.string(),
      context: z.object({ before: z.array(z.string()), after: z.array(z.string()) }),
    }),
  ),
  total: z.number(),
  truncated: z.boolean(),
  fileCount: z.number(),
})

function globPattern(glob: string): string {
  return glob
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("*", String.raw`\w*`)
    .replaceAll("?", String.raw`\w`)
}
