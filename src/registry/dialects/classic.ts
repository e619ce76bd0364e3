import { z } from "zod"
import type { AliasSpec } from "./dialect.ts"
import type { Language } from "../../core/language.ts"
import { classicTexts } from "./classic-texts.ts"
import { defineAlias, withoutUndefined } from "./define-alias.ts"

const text = z.string()
const path = text.min(1)

type Fields = Record<string, unknown>

type Texts = (typeof classicTexts)[Language]

/** The names, parameters, results and error texts of design S3. */
export function classicDialect(language: Language = "en"): AliasSpec[] {
  const texts = classicTexts[language]
  return (specs[language] ??= [...files(texts), ...code(texts), ...others(texts)])
}

/** Built once per process and language. */
const specs: { [language in Language]?: AliasSpec[] } = {}

/** S3 begins the message of every failure with the same words. */
function failing(prefix: string): Pick<AliasSpec, "toError"> {
  return { toError: (sentence) => `${prefix}: ${sentence}` }
}

const files = (texts: Texts): AliasSpec[] => [
  defineAlias({
    name: "file_read",
    dialect: "classic",
    tool: "read_file",
    description: texts.file_read.tool,
    input: () =>
      z.object({
        path: path.describe(texts.file_read.path),
        encoding: z.enum(["utf8", "ascii", "base64"]).default("utf8").describe(texts.file_read.encoding),
      }),
    output: () => z.object({ path: text, content: text, size: z.number(), encoding: text }),
    toInput: ({ path: file, encoding }) => (encoding === "utf8" ? { path: file } : { path: file, encoding }),
    toResult: ({ path: file, content, size, encoding }: Fields) => ({
      path: file,
      content,
      size,
      encoding: encoding === "utf-8" ? "utf8" : encoding,
    }),
    names: { offset: null },
    ...failing("Failed to read file"),
  }),
  defineAlias({
    name: "file_write",
    dialect: "classic",
    tool: "write_file",
    description: texts.file_write.tool,
    input: () =>
      z.object({
        path: path.describe(texts.file_write.path),
        content: text.describe(texts.file_write.content),
        mode: z.enum(["overwrite", "append"]).default("overwrite").describe(texts.file_write.mode),
      }),
    output: () => z.object({ path: text, size: z.number(), mode: text }),
    toInput: ({ path: file, content, mode }) => ({ path: file, content, append: mode === "append" }),
    toResult: ({ path: file, size, mode }: Fields) => ({ path: file, size, mode }),
    names: { encoding: null },
    ...failing("Failed to write file"),
  }),
  defineAlias({
    name: "file_list",
    dialect: "classic",
    tool: "list_files",
    description: texts.file_list.tool,
    input: () =>
      z.object({
        path: path.default(".").describe(texts.file_list.path),
        recursive: z.boolean().default(false).describe(texts.file_list.recursive),
        pattern: path.optional().describe(texts.file_list.pattern),
      }),
    output: () => z.object({ path: text, files: z.array(z.unknown()) }),
    toInput: withoutUndefined,
    toResult: ({ path: folder, files: listed }: Fields) => ({ path: folder, files: listed }),
    ...failing("Failed to list files"),
  }),
]

const code = (texts: Texts): AliasSpec[] => [
  defineAlias({
    name: "code_query",
    dialect: "classic",
    tool: "code_query",
    description: texts.code_query.tool,
    input: () =>
      z.object({
        query: text.min(1).describe(texts.code_query.query),
        type: z.enum(["function", "class", "variable", "file", "all"]).default("all").describe(texts.code_query.type),
        path: path.optional().describe(texts.code_query.path),
      }),
    output: () => z.object({ query: text, type: text, matches: z.array(z.unknown()) }),
    toInput: withoutUndefined,
    toResult: ({ query, type, matches }: Fields & { matches: Fields[] }) => ({
      query,
      type,
      matches: matches.map(({ path: file, line, column, code: shown, context }) => ({
        file,
        line,
        column,
        code: shown,
        context,
      })),
    }),
  }),
  defineAlias({
    name: "snippet_save",
    dialect: "classic",
    tool: "snippet_save",
    description: texts.snippet_save.tool,
    input: () =>
      z.object({
        name: text.min(1).describe(texts.snippet_save.name),
        code: text.min(1).describe(texts.snippet_save.code),
        description: text.optional().describe(texts.snippet_save.description),
        language: text.min(1).optional().describe(texts.snippet_save.language),
        tags: z.array(text).optional().describe(texts.snippet_save.tags),
      }),
    output: () => z.object({ id: text, name: text }),
    toInput: withoutUndefined,
    toResult: ({ id, name }: Fields) => ({ id, name }),
    ...failing("Failed to save snippet"),
  }),
  defineAlias({
    name: "snippet_load",
    dialect: "classic",
    tool: "snippet_load",
    description: texts.snippet_load.tool,
    input: () => z.object({ name: text.min(1).describe(texts.snippet_load.name) }),
    output: () =>
      z.object({
        id: text,
        name: text,
        code: text,
        description: text,
        language: text,
        tags: z.array(text),
      }),
    toInput: withoutUndefined,
    toResult: ({ id, name, code: shown, description, language, tags }: Fields) => ({
      id,
      name,
      code: shown,
      description,
      language,
      tags,
    }),
    // S3 gives this one message without a prefix.
    toError: (sentence, toolCode) =>
      toolCode === "snippet_not_found" ? sentence : `Failed to load snippet: ${sentence}`,
  }),
  defineAlias({
    name: "snippet_list",
    dialect: "classic",
    tool: "snippet_list",
    description: texts.snippet_list.tool,
    input: () =>
      z.object({
        tags: z.array(text).optional().describe(texts.snippet_list.tags),
        language: text.min(1).optional().describe(texts.snippet_list.language),
      }),
    output: () => z.object({ count: z.number(), snippets: z.array(z.unknown()) }),
    toInput: withoutUndefined,
    toResult: ({ count, snippets }: Fields & { snippets: Fields[] }) => ({
      count,
      snippets: snippets.map(({ updatedAt: _updatedAt, ...snippet }) => snippet),
    }),
    ...failing("Failed to list snippets"),
  }),
]

const others = (texts: Texts): AliasSpec[] => [
  defineAlias({
    name: "shell_exec",
    dialect: "classic",
    tool: "run_command",
    description: texts.shell_exec.tool,
    input: () =>
      z.object({
        command: text.min(1).describe(texts.shell_exec.command),
        cwd: path.optional().describe(texts.shell_exec.cwd),
        timeout: z.number().positive().default(30_000).describe(texts.shell_exec.timeout),
      }),
    output: () => z.object({ command: text, stdout: text, stderr: text, exitCode: z.number().nullable() }),
    toInput: ({ command, cwd, timeout }) =>
      withoutUndefined({ command, cwd, timeoutMs: Math.min(Math.ceil(timeout), 590_000) }),
    toResult: ({ stdout, stderr, exitCode }: Fields, { command = "" }: { command?: string }) => ({
      command,
      stdout,
      stderr,
      exitCode,
    }),
    names: { timeoutMs: "timeout", background: null },
    ...failing("Command execution failed"),
  }),
  defineAlias({
    name: "ask_user",
    dialect: "classic",
    tool: "ask_user",
    description: texts.ask_user.tool,
    input: () =>
      z.object({
        question: text.min(1).describe(texts.ask_user.question),
        options: z.array(text.min(1)).optional().describe(texts.ask_user.options),
      }),
    output: () => z.object({ question: text, answer: z.union([text, z.array(text)]) }),
    toInput: withoutUndefined,
    toResult: ({ question, answer }: Fields) => ({ question, answer }),
  }),
]
