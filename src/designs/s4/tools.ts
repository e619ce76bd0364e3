import { z } from "zod"
import { ToolCategory } from "../../core/tool.ts"
import { callStandalone } from "../fenced-apps.ts"
import type { PrivateTool } from "../private-app.ts"
import { resultOf, type Tool } from "./types.ts"

/** The tools of this file and those of MCP servers, as a private app takes them. */
export const coreTools = new WeakMap<Tool, PrivateTool>()

const text = z.string()
const path = text.min(1)
const headers = z.record(text, text).optional()

/** A built-in tool under S4's own description. Executed on its own, it is a call of the core like any other. */
function builtIn(name: string, category: ToolCategory, description: string, shape: z.ZodRawShape): Tool {
  const tool: Tool = {
    name,
    description,
    category,
    parameters: z.object(shape),
    execute: async (params, context) =>
      resultOf(await callStandalone({ design: "s4", language: "en" }, name, params, context), name),
  }
  coreTools.set(tool, name)
  return tool
}

const { SYSTEM, FILE, NETWORK, DATA } = ToolCategory

export const current_time = builtIn("current_time", SYSTEM, "获取当前时间", { timezone: path.optional() })
export const sleep = builtIn("sleep", SYSTEM, "延时等待", { duration: z.number().min(0) })
export const get_env = builtIn("get_env", SYSTEM, "获取环境变量", { key: path })
export const set_env = builtIn("set_env", SYSTEM, "设置环境变量", { key: path, value: text })

export const read_file = builtIn("read_file", FILE, "读取文件内容", { path, encoding: text.optional() })
export const write_file = builtIn("write_file", FILE, "写入文件", { path, content: text, encoding: text.optional() })
export const list_files = builtIn("list_files", FILE, "列出目录", {
  path,
  recursive: z.boolean().optional(),
  pattern: text.optional(),
})
export const delete_file = builtIn("delete_file", FILE, "删除文件", { path })
export const move_file = builtIn("move_file", FILE, "移动/重命名文件", { from: path, to: path })
export const get_file_info = builtIn("get_file_info", FILE, "获取文件信息", { path })

export const http_get = builtIn("http_get", NETWORK, "HTTP GET 请求", { url: path, headers })
export const http_post = builtIn("http_post", NETWORK, "HTTP POST 请求", { url: path, body: text.optional(), headers })
export const http_request = builtIn("http_request", NETWORK, "通用 HTTP 请求", {
  method: path,
  url: path,
  body: text.optional(),
  headers,
})
export const web_search = builtIn("web_search", NETWORK, "网络搜索", { query: path, limit: z.int().min(1).optional() })

export const json_parse = builtIn("json_parse", DATA, "解析 JSON", { text })
export const json_stringify = builtIn("json_stringify", DATA, "序列化 JSON", {
  data: z.unknown(),
  pretty: z.boolean().optional(),
})
export const base64_encode = builtIn("base64_encode", DATA, "Base64 编码", { text })
export const base64_decode = builtIn("base64_decode", DATA, "Base64 解码", { encoded: text })

/** All of them. */
export const builtinTools: Tool[] = [
  current_time,
  sleep,
  get_env,
  set_env,
  read_file,
  write_file,
  list_files,
  delete_file,
  move_file,
  get_file_info,
  http_get,
  http_post,
  http_request,
  web_search,
  json_parse,
  json_stringify,
  base64_encode,
  base64_decode,
]
