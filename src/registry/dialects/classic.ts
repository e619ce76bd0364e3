import { z } from "zod"
import type { AliasSpec } from "../../model/dialect.ts"
import { aliasOf, withoutUndefined } from "./spell.ts"

const text = z.string()
const path = text.min(1)

type Told = Record<string, unknown>

/** The names, parameters, results and error texts of design S3. */
export const classicDialect = (): AliasSpec[] => (known ??= [...files(), ...code(), ...others()])

/** They are the same for every house. */
let known: AliasSpec[] | undefined

/** S3 puts its own words before every failure. */
function failing(words: string): Pick<AliasSpec, "toError"> {
  return { toError: (sentence) => `${words}: ${sentence}` }
}

const files = (): AliasSpec[] => [
  aliasOf({
    name: "file_read",
    dialect: "classic",
    tool: "read_file",
    description: "读取文件内容",
    input: z.object({
      path: path.describe("文件路径（相对于工作目录）"),
      encoding: z.enum(["utf8", "ascii", "base64"]).default("utf8").describe("文件编码"),
    }),
    output: z.object({ path: text, content: text, size: z.number(), encoding: text }),
    toInput: ({ path: file, encoding }) => (encoding === "utf8" ? { path: file } : { path: file, encoding }),
    toResult: ({ path: file, content, size, encoding }: Told) => ({ path: file, content, size, encoding }),
    names: {
      "Read a part of it with offset and limit or with tail, or use search_files":
        "Find what you need in it with search_files",
    },
    saidOfIt: { "read_file and encoding utf-8": "file_read and encoding utf8" },
    ...failing("Failed to read file"),
  }),
  aliasOf({
    name: "file_write",
    dialect: "classic",
    tool: "write_file",
    description: "写入或创建文件",
    input: z.object({
      path: path.describe("文件路径"),
      content: text.describe("文件内容"),
      mode: z.enum(["overwrite", "append"]).default("overwrite").describe("写入模式"),
    }),
    output: z.object({ path: text, size: z.number(), mode: text }),
    toInput: ({ path: file, content, mode }) => ({ path: file, content, append: mode === "append" }),
    toResult: ({ path: file, size, mode }: Told) => ({ path: file, size, mode }),
    // It takes no encoding.
    saidOfIt: { ", or write the whole file with write_file and encoding utf-8": "" },
    ...failing("Failed to write file"),
  }),
  aliasOf({
    name: "file_list",
    dialect: "classic",
    tool: "list_files",
    description: "列出目录中的文件和子目录",
    input: z.object({
      path: path.default(".").describe("目录路径"),
      recursive: z.boolean().default(false).describe("是否递归列出子目录"),
      pattern: path.optional().describe("文件名匹配模式（glob）"),
    }),
    output: z.object({ path: text, files: z.array(z.unknown()) }),
    toInput: withoutUndefined,
    toResult: ({ path: folder, files: listed }: Told) => ({ path: folder, files: listed }),
    ...failing("Failed to list files"),
  }),
]

const code = (): AliasSpec[] => [
  aliasOf({
    name: "code_query",
    dialect: "classic",
    tool: "code_query",
    description: "在代码库中搜索函数、类、变量或文件",
    input: z.object({
      query: text.min(1).describe("搜索关键词"),
      type: z.enum(["function", "class", "variable", "file", "all"]).default("all").describe("搜索类型"),
      path: path.optional().describe("限制搜索路径"),
    }),
    output: z.object({ query: text, type: text, matches: z.array(z.unknown()) }),
    toInput: withoutUndefined,
    toResult: ({ query, type, matches }: Told & { matches: Told[] }) => ({
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
  aliasOf({
    name: "snippet_save",
    dialect: "classic",
    tool: "snippet_save",
    description: "保存代码片段以便后续复用",
    input: z.object({
      name: text.min(1).describe("片段名称（唯一标识）"),
      code: text.min(1).describe("代码内容"),
      description: text.optional().describe("片段描述"),
      language: text.min(1).optional().describe("编程语言"),
      tags: z.array(text).optional().describe("标签列表"),
    }),
    output: z.object({ id: text, name: text }),
    toInput: withoutUndefined,
    toResult: ({ id, name }: Told) => ({ id, name }),
    ...failing("Failed to save snippet"),
  }),
  aliasOf({
    name: "snippet_load",
    dialect: "classic",
    tool: "snippet_load",
    description: "加载已保存的代码片段",
    input: z.object({ name: text.min(1).describe("片段名称或ID") }),
    output: z.object({
      id: text,
      name: text,
      code: text,
      description: text,
      language: text,
      tags: z.array(text),
    }),
    toInput: withoutUndefined,
    toResult: ({ id, name, code: shown, description, language, tags }: Told) => ({
      id,
      name,
      code: shown,
      description,
      language,
      tags,
    }),
    // What is not there is said without further words.
    toError: (sentence, toolCode) =>
      toolCode === "snippet_not_found" ? sentence : `Failed to load snippet: ${sentence}`,
  }),
  aliasOf({
    name: "snippet_list",
    dialect: "classic",
    tool: "snippet_list",
    description: "列出所有已保存的代码片段",
    input: z.object({
      tags: z.array(text).optional().describe("按标签过滤"),
      language: text.min(1).optional().describe("按语言过滤"),
    }),
    output: z.object({ count: z.number(), snippets: z.array(z.unknown()) }),
    toInput: withoutUndefined,
    toResult: ({ count, snippets }: Told & { snippets: Told[] }) => ({
      count,
      snippets: snippets.map(({ updatedAt: _updatedAt, ...snippet }) => snippet),
    }),
    ...failing("Failed to list snippets"),
  }),
]

const others = (): AliasSpec[] => [
  aliasOf({
    name: "shell_exec",
    dialect: "classic",
    tool: "run_command",
    description: "执行 Shell 命令",
    input: z.object({
      command: text.min(1).describe("要执行的命令"),
      cwd: path.optional().describe("工作目录"),
      timeout: z.number().positive().default(30_000).describe("超时时间（毫秒）"),
    }),
    output: z.object({ command: text, stdout: text, stderr: text, exitCode: z.number().nullable() }),
    toInput: ({ command, cwd, timeout }) =>
      withoutUndefined({ command, cwd, timeoutMs: Math.min(Math.ceil(timeout), 590_000) }),
    toResult: ({ stdout, stderr, exitCode }: Told, { command = "" }: { command?: string }) => ({
      command,
      stdout,
      stderr,
      exitCode,
    }),
    names: { "more timeoutMs": "a longer timeout", timeoutMs: "timeout", ", or run it with background": "" },
    ...failing("Command execution failed"),
  }),
  aliasOf({
    name: "ask_user",
    dialect: "classic",
    tool: "ask_user",
    description: "向用户提问以获取更多信息",
    input: z.object({
      question: text.min(1).describe("问题"),
      options: z.array(text.min(1)).optional().describe("选项列表"),
    }),
    output: z.object({ question: text, answer: z.union([text, z.array(text)]) }),
    toInput: withoutUndefined,
    toResult: ({ question, answer }: Told) => ({ question, answer }),
  }),
]
