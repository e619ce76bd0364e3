import type { Language } from "../../core/language.ts"

type Texts = typeof zh

/** S3's own descriptions of its tools and parameters, word for word. */
const zh = {
  file_read: { tool: "读取文件内容", path: "文件路径（相对于工作目录）", encoding: "文件编码" },
  file_write: { tool: "写入或创建文件", path: "文件路径", content: "文件内容", mode: "写入模式" },
  file_list: {
    tool: "列出目录中的文件和子目录",
    path: "目录路径",
    recursive: "是否递归列出子目录",
    pattern: "文件名匹配模式（glob）",
  },
  code_query: {
    tool: "在代码库中搜索函数、类、变量或文件",
    query: "搜索关键词（函数名、类名、文件名等）",
    type: "搜索类型",
    path: "限制搜索路径",
  },
  snippet_save: {
    tool: "保存代码片段以便后续复用",
    name: "片段名称（唯一标识）",
    code: "代码内容",
    description: "片段描述",
    language: "编程语言",
    tags: "标签列表",
  },
  snippet_load: { tool: "加载已保存的代码片段", name: "片段名称或ID" },
  snippet_list: { tool: "列出所有已保存的代码片段", tags: "按标签过滤", language: "按语言过滤" },
  shell_exec: { tool: "执行 Shell 命令", command: "要执行的命令", cwd: "工作目录", timeout: "超时时间（毫秒）" },
  ask_user: { tool: "向用户提问以获取更多信息", question: "要问用户的问题", options: "可选的答案选项" },
}

const en: Texts = {
  file_read: {
    tool: "Read the contents of a file",
    path: "File path, relative to the workspace",
    encoding: "File encoding",
  },
  file_write: {
    tool: "Write or create a file",
    path: "File path",
    content: "File content",
    mode: "Whether to overwrite the file or to append to it",
  },
  file_list: {
    tool: "List the files and folders in a folder",
    path: "Folder path",
    recursive: "Whether to list subfolders too",
    pattern: "File name pattern (glob)",
  },
  code_query: {
    tool: "Search the code base for functions, classes, variables or files",
    query: "What to search for: the name of a function, class, variable or file",
    type: "What kind of thing to search for",
    path: "Where to search",
  },
  snippet_save: {
    tool: "Save a code snippet for later use",
    name: "Snippet name (unique)",
    code: "The code",
    description: "What the snippet is for",
    language: "Programming language",
    tags: "Tags",
  },
  snippet_load: { tool: "Load a saved code snippet", name: "Snippet name or id" },
  snippet_list: { tool: "List all saved code snippets", tags: "Filter by tags", language: "Filter by language" },
  shell_exec: {
    tool: "Run a shell command",
    command: "The command to run",
    cwd: "Working directory",
    timeout: "Time limit in milliseconds",
  },
  ask_user: { tool: "Ask the user a question", question: "The question", options: "Answers to choose from" },
}

/** The descriptions of the classic dialect, per language. */
export const classicTexts: Readonly<Record<Language, Texts>> = { en, zh }
