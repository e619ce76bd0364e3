import { setTimeout as sleep } from "node:timers/promises"
import type { ToolManager } from "./manager.ts"
import { toolManager } from "./plugins.ts"
import type { FileInfo, ToolResult } from "./types.ts"

/** The purpose of each tool. */
export const toolSelectionGuide = {
  查找代码: "code_query",
  读取文件: "file_read",
  修改文件: "file_write",
  列出文件: "file_list",
  保存代码: "snippet_save",
  执行命令: "shell_exec",
  询问用户: "ask_user",
} as const

const tries = 3

/**
 * Handles a tool that failed: up to three more tries with growing pauses, then for `code_query` a search in the
 * files, otherwise the error is thrown. The core does the like by itself, where a tool may be tried again.
 */
export async function handleToolError(
  toolName: string,
  error: Error,
  retryCount: number,
  args: Record<string, unknown> = {},
  manager: ToolManager = toolManager,
): Promise<ToolResult> {
  if (retryCount < tries) {
    await sleep(1000 * retryCount)
    return manager.execute({ name: toolName, arguments: args })
  }
  if (toolName === "code_query") return fallbackToFileSearch(args, manager)
  throw error
}

/** Finds files by name and lines by text with `file_list` and `file_read`. */
async function fallbackToFileSearch(args: Record<string, unknown>, manager: ToolManager): Promise<ToolResult> {
  const { query = "", path = "." } = args as { query?: string; path?: string }
  const listed = await manager.execute({ name: "file_list", arguments: { path, recursive: true } })
  if (!listed.success) return listed
  const { files } = listed.data as { files: FileInfo[] }
  const names = files.filter(({ type }) => type === "file").map((file) => file.path)
  const read = await readAll(names, manager)
  const matches = read.flatMap(({ data }, place) => {
    const { content = "" } = (data ?? {}) as { content?: string }
    return content.split("\n").flatMap((code, at) => {
      const column = code.indexOf(query) + 1
      return column === 0 ? [] : [{ file: names[place]!, line: at + 1, column, code, context: code }]
    })
  })
  return { success: true, data: { query, type: "all", matches } }
}

/** Reads several files in parallel. */
export function optimizedFileOperations(files: string[], manager: ToolManager = toolManager): Promise<ToolResult[]> {
  return readAll(files, manager)
}

function readAll(paths: readonly string[], manager: ToolManager): Promise<ToolResult[]> {
  return manager.executeMany(paths.map((path) => ({ name: "file_read", arguments: { path } })))
}
