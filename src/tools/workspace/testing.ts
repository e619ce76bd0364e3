import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { ToolFailure } from "../../model/ending.ts"
import type { Files } from "../../model/files.ts"
import type { Tool, ToolContext } from "../../model/tool.ts"
import { temporaryFolder } from "../../testing/open.ts"
import { openFence } from "../../world/files/fence.ts"
import { workspaceTools, type WorkspaceSettings } from "./index.ts"

/** What a call of a tool came to. */
export type Came = Record<string, unknown> & { error?: string; toolCode?: string }

/** The tools of a workspace in a folder of its own, called with their schemas and without the walk. */
export interface Bench {
  readonly dir: string
  readonly files: Files
  readonly tools: ReadonlyMap<string, Tool>
  /** Writes a file past the tools, with the folders above it. */
  put(path: string, content: string | Uint8Array): string
  /** The same under a name that nobody has read before. */
  fresh(content: string | Uint8Array): string
  call(tool: string, input: unknown, context?: Partial<ToolContext>): Promise<Came>
}

export function openBench(settings: WorkspaceSettings = {}): Bench {
  const dir = temporaryFolder()
  const files = openFence({ workspace: dir, dataFolder: temporaryFolder() })
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
        const given = tool.output!.check(value)
        if (!given.ok) throw new Error(`${name} gives what it does not promise: ${given.problems.join("; ")}`)
        return given.value as Came
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
