import type { ToolParameter } from "../../core/schema.ts"
import type { BaseTool as CoreBaseTool } from "../../registry/base-tool.ts"
import { BaseTool } from "./base-tool.ts"
import { classicTexts } from "../../registry/dialects/classic-texts.ts"
import { callStandalone, FencedApps } from "../fenced-apps.ts"
import type { PrivateAppSettings, PrivateCallContext } from "../private-app.ts"
import { coreStorage, type ISnippetStorage } from "./snippets.ts"
import { resultOf, type ToolResult } from "./types.ts"

/** S3's language and tool names. It asks about dangerous tools only, and saving a snippet is none. */
export const s3 = {
  design: "s3",
  language: "zh",
  dialect: "classic",
  config: { tools: { permissions: { snippet_save: { level: "public" } } } },
} as const satisfies PrivateAppSettings

const texts = classicTexts.zh

/** A tool that the core has. Executed on its own, it is a call of the core like any other. */
export abstract class StandardTool extends BaseTool {
  /** `context` is ours: with `approve` or `ask`, somebody can be asked. */
  async execute(args: Record<string, unknown>, context?: PrivateCallContext): Promise<ToolResult> {
    return resultOf(await callStandalone(s3, this.name, args, context))
  }
}

/** A tool with a storage of its own. */
abstract class SnippetTool extends StandardTool {
  readonly storage: ISnippetStorage
  readonly #apps: FencedApps

  constructor(storage: ISnippetStorage) {
    super()
    this.storage = storage
    this.#apps = new FencedApps({ ...s3, options: { snippets: coreStorage(() => storage) } })
  }

  override async execute(args: Record<string, unknown>, context?: PrivateCallContext): Promise<ToolResult> {
    return resultOf(await this.#apps.call(this.name, args, context))
  }
}

type Kind = ToolParameter["type"]

function required(name: string, type: Kind, description: string): ToolParameter {
  return { name, type, description, required: true }
}

function optional(name: string, type: Kind, description: string, more: Partial<ToolParameter> = {}): ToolParameter {
  return { name, type, description, required: false, ...more }
}

export class CodeQueryTool extends StandardTool {
  readonly name = "code_query"
  readonly description = texts.code_query.tool
  readonly parameters: ToolParameter[] = [
    required("query", "string", texts.code_query.query),
    optional("type", "string", texts.code_query.type, {
      enum: ["function", "class", "variable", "file", "all"],
      default: "all",
    }),
    optional("path", "string", texts.code_query.path),
  ]
}

export class FileReadTool extends StandardTool {
  readonly name = "file_read"
  readonly description = texts.file_read.tool
  readonly parameters: ToolParameter[] = [
    required("path", "string", texts.file_read.path),
    optional("encoding", "string", texts.file_read.encoding, { enum: ["utf8", "ascii", "base64"], default: "utf8" }),
  ]
}

export class FileWriteTool extends StandardTool {
  readonly name = "file_write"
  readonly description = texts.file_write.tool
  override readonly dangerous: boolean = true
  readonly parameters: ToolParameter[] = [
    required("path", "string", texts.file_write.path),
    required("content", "string", texts.file_write.content),
    optional("mode", "string", texts.file_write.mode, { enum: ["overwrite", "append"], default: "overwrite" }),
  ]
}

export class FileListTool extends StandardTool {
  readonly name = "file_list"
  readonly description = texts.file_list.tool
  readonly parameters: ToolParameter[] = [
    optional("path", "string", texts.file_list.path, { default: "." }),
    optional("recursive", "boolean", texts.file_list.recursive, { default: false }),
    optional("pattern", "string", texts.file_list.pattern),
  ]
}

export class SnippetSaveTool extends SnippetTool {
  readonly name = "snippet_save"
  readonly description = texts.snippet_save.tool
  readonly parameters: ToolParameter[] = [
    required("name", "string", texts.snippet_save.name),
    required("code", "string", texts.snippet_save.code),
    optional("description", "string", texts.snippet_save.description),
    optional("language", "string", texts.snippet_save.language),
    optional("tags", "array", texts.snippet_save.tags, { items: { type: "string" } }),
  ]
}

export class SnippetLoadTool extends SnippetTool {
  readonly name = "snippet_load"
  readonly description = texts.snippet_load.tool
  readonly parameters: ToolParameter[] = [required("name", "string", texts.snippet_load.name)]
}

export class SnippetListTool extends SnippetTool {
  readonly name = "snippet_list"
  readonly description = texts.snippet_list.tool
  readonly parameters: ToolParameter[] = [
    optional("tags", "array", texts.snippet_list.tags, { items: { type: "string" } }),
    optional("language", "string", texts.snippet_list.language),
  ]
}

export class ShellExecTool extends StandardTool {
  readonly name = "shell_exec"
  readonly description = texts.shell_exec.tool
  override readonly dangerous: boolean = true
  readonly parameters: ToolParameter[] = [
    required("command", "string", texts.shell_exec.command),
    optional("cwd", "string", texts.shell_exec.cwd),
    optional("timeout", "number", texts.shell_exec.timeout, { default: 30_000 }),
  ]
}

export class AskUserTool extends StandardTool {
  readonly name = "ask_user"
  readonly description = texts.ask_user.tool
  readonly parameters: ToolParameter[] = [
    required("question", "string", texts.ask_user.question),
    optional("options", "array", texts.ask_user.options, { items: { type: "string" } }),
  ]
}

/** S3's nine tools, those for snippets over one storage. */
export function standardTools(storage: ISnippetStorage): StandardTool[] {
  return [
    new CodeQueryTool(),
    new FileReadTool(),
    new FileWriteTool(),
    new FileListTool(),
    new SnippetSaveTool(storage),
    new SnippetLoadTool(storage),
    new SnippetListTool(storage),
    new ShellExecTool(),
    new AskUserTool(),
  ]
}

/** The storage of a tool for snippets. */
export function storageOf(tool: CoreBaseTool): ISnippetStorage | undefined {
  return tool instanceof SnippetTool ? tool.storage : undefined
}
