import { callStandalone } from "../fenced-apps.ts"
import { executionError } from "./errors.ts"
import type { BuiltinTool, ExecutionContext } from "./types.ts"

const harmless = { requireConfirmation: false, isDangerous: false }
const confirmed = { requireConfirmation: true, isDangerous: true }

export const Read = builtin({
  name: "Read",
  category: "file",
  description: "读取文件内容，支持文本、图片、PDF、Jupyter Notebook",
  inputSchema: { file_path: "string", offset: "number?", limit: "number?", encoding: "string?" },
  outputSchema: { content: "string", total_lines: "number", encoding: "string", truncated: "boolean" },
  permissions: harmless,
})

export const Edit = builtin({
  name: "Edit",
  category: "file",
  description: "精准编辑文件内容，支持行级和块级修改",
  inputSchema: {
    file_path: "string",
    old_string: "string?",
    new_string: "string?",
    start_line: "number?",
    end_line: "number?",
    new_content: "string?",
    preview: "boolean?",
    create_backup: "boolean?",
  },
  permissions: { ...confirmed, rateLimit: { maxCallsPerMinute: 30, maxCallsPerHour: 500 } },
})

export const Glob = builtin({
  name: "Glob",
  category: "file",
  description: "按模式匹配查找文件",
  inputSchema: { pattern: "string", exclude: "string[]?", limit: "number?" },
  outputSchema: { files: "string[]", total: "number" },
  permissions: harmless,
})

export const Grep = builtin({
  name: "Grep",
  category: "search",
  description: "基于 ripgrep 的内容搜索",
  inputSchema: {
    pattern: "string",
    path: "string?",
    include: "string?",
    exclude: "string?",
    context_lines: "number?",
    ignore_case: "boolean?",
    max_results: "number?",
  },
  outputSchema: {
    matches: [
      {
        file: "string",
        line: "number",
        column: "number",
        match: "string",
        context: { before: "string[]", after: "string[]" },
      },
    ],
    total: "number",
  },
  permissions: harmless,
})

export const Bash = builtin({
  name: "Bash",
  category: "execution",
  description: "执行终端命令",
  inputSchema: {
    command: "string",
    working_dir: "string?",
    timeout: "number?",
    env: "object?",
    require_confirmation: "boolean?",
  },
  outputSchema: { exit_code: "number", stdout: "string", stderr: "string", duration: "number" },
  permissions: { ...confirmed, allowedRoles: ["developer", "devops", "architect"] },
})

export const NotebookRead = builtin({
  name: "NotebookRead",
  category: "data",
  description: "读取 Jupyter Notebook",
  inputSchema: { file_path: "string" },
  outputSchema: {
    cells: [{ type: "'code' | 'markdown'", source: "string", outputs: "any[]?", execution_count: "number?" }],
    metadata: "object",
  },
  permissions: harmless,
})

export const NotebookEdit = builtin({
  name: "NotebookEdit",
  category: "data",
  description: "编辑 Jupyter Notebook",
  inputSchema: {
    file_path: "string",
    cell_id: "string?",
    cell_number: "number?",
    new_source: "string?",
    cell_type: "'code' | 'markdown' | 'raw'?",
    edit_mode: "'replace' | 'insert' | 'delete'?",
  },
  permissions: confirmed,
})

export const TodoWrite = builtin({
  name: "TodoWrite",
  category: "utility",
  description: "创建和管理任务清单",
  inputSchema: {
    operation: "'create' | 'update' | 'delete' | 'list'",
    todo: {
      title: "string",
      description: "string?",
      priority: "'low' | 'medium' | 'high' | 'urgent'",
      status: "'pending' | 'in_progress' | 'completed'",
      assignee: "string?",
      deadline: "number?",
      tags: "string[]?",
    },
  },
  permissions: harmless,
})

/** The tools of S2's chapter 3. */
export const builtinTools: readonly OwnTool[] = [Read, Edit, Glob, Grep, Bash, NotebookRead, NotebookEdit, TodoWrite]

/** Reports whether it is a tool of ours in S2's words, which the app has already. */
export function isBuiltinTool(tool: object): boolean {
  return builtinTools.includes(tool as OwnTool)
}

/** The tool of S2's own that this one is a copy of, with other permissions or another name. */
export function copiedFrom(tool: BuiltinTool): OwnTool | undefined {
  return isBuiltinTool(tool) ? undefined : builtinTools.find(({ handler }) => handler === tool.handler)
}

/** A tool of S2's own, which can also be called by itself. */
type OwnTool = BuiltinTool & { handler(params: Record<string, unknown>, context?: ExecutionContext): Promise<unknown> }

/** A tool of the dialect `claude`, described as S2 does. Its handler makes a call like every other. */
function builtin(tool: Omit<BuiltinTool, "handler">): OwnTool {
  const { name } = tool
  return {
    ...tool,
    type: "builtin",
    async handler(params: Record<string, unknown>, context: ExecutionContext = {}) {
      const ended = await callStandalone({ design: "s2", language: "en", dialect: "claude" }, name, params, context)
      if (ended.success) return ended.result
      throw executionError(ended, undefined)
    },
  }
}
