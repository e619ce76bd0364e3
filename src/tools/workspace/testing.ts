import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { ToolFailure } from "../../core/ending.ts"
import type { Files } from "../../platform/files/file-access.ts"
import type { Tool, ToolContext } from "../../core/tool.ts"
import { temporaryFolder } from "../../testing/test-app.ts"
import { openFiles } from "../../platform/files/files.ts"
import { workspaceTools, type WorkspaceSettings } from "./index.ts"

/** The output of a tool call, or its error. */
export type WorkspaceCallResult = Record<string, unknown> & { error?: string; toolCode?: string }

/** The workspace tools in a temporary folder, called directly: with their schemas, but without the call's lifecycle. */
export interface Bench {
  readonly dir: string
  readonly files: Files
  readonly tools: ReadonlyMap<string, Tool>
  /** Writes a file without the tools, and creates its folders. */
  put(path: string, content: string | Uint8Array): string
  /** Writes a file under a new name. */
  fresh(content: string | Uint8Array): string
  call(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<WorkspaceCallResult>
}

export function openBench(settings: WorkspaceSettings = {}): Bench {
  const dir = temporaryFolder()
  const files = openFiles({ workspace: dir, dataFolder: temporaryFolder() })
  const tools = new Map(workspaceTools(files, settings).map((tool) => [tool.name, tool]))
  const put = (path: string, content: string | Uint8Array) => {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), content)
    return join(dir, path)
  }
  let count = 0
  return {
    dir,
    files,
    tools,
    put,
    fresh(content) {
      const path = `fresh-${++count}.txt`
      put(path, content)
      return path
    },
    async call(name, input, context = {}) {
      const tool = tools.get(name)!
      const checked = tool.input.check(input)
      if (!checked.ok) return { error: checked.problems.join("; "), toolCode: "invalid_arguments" }
      try {
        const value = await tool.execute(checked.value, contextOf(context))
        const output = tool.output!.check(value)
        if (!output.ok) throw new Error(`${name} returns what its schema forbids: ${output.problems.join("; ")}`)
        return output.value as WorkspaceCallResult
      } catch (error) {
        if (!(error instanceof ToolFailure)) throw error
        return { error: error.message, toolCode: error.toolCode ?? "" }
      }
    },
  }
}

function contextOf(context: Partial<ToolContext>): ToolContext {
  const agent = { id: "ann", role: "dev" }
  return { agent, signal: new AbortController().signal, ...context } as ToolContext
}
