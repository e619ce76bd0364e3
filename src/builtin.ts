import { realpathSync } from "node:fs"
import { homedir } from "node:os"
import { isAbsolute, join, resolve } from "node:path"
import { defaults, type Config } from "./config/schema.ts"
import { failure } from "./model/ending.ts"
import type { Files, Trash } from "./model/files.ts"
import type { Guards } from "./model/guard.ts"
import type { SessionEnvironment } from "./model/ports.ts"
import type { Processes } from "./model/processes.ts"
import type { SnippetStorage } from "./model/snippets.ts"
import type { Todos } from "./model/todos.ts"
import type { Tool } from "./model/tool.ts"
import { commandGuard } from "./policy/commands/guard.ts"
import { guardsOf } from "./policy/guards.ts"
import { hostGuard } from "./policy/hosts.ts"
import { pathGuard } from "./policy/paths.ts"
import { artifactTools } from "./tools/artifact/index.ts"
import { codeTools } from "./tools/code/index.ts"
import { commandTools } from "./tools/command/index.ts"
import { consoleTools } from "./tools/console/index.ts"
import { dataTools } from "./tools/data/index.ts"
import { interactionTools } from "./tools/interaction/index.ts"
import { networkTools } from "./tools/network/index.ts"
import { systemTools } from "./tools/system/index.ts"
import { todoTools } from "./tools/todo/index.ts"
import { workspaceTools } from "./tools/workspace/index.ts"
import { openCodeIndex } from "./world/code/code-index.ts"
import { openFence, openTrash } from "./world/files/fence.ts"
import { openMarkLog } from "./world/files/mark-log.ts"
import { openJavaScript } from "./world/javascript/javascript.ts"
import { openProcesses } from "./world/processes/processes.ts"
import { openPages } from "./world/web/pages.ts"
import { openWeb } from "./world/web/web.ts"

/** What the tools of the house work with. */
export interface BuiltinOptions {
  /** The real path of the folder the tools work in. */
  workspace: string
  dataDir: string
  /** The home folder; the account's when left out. */
  home?: string | undefined
  /** Files of ours that are neither read nor written: tokens, keys. */
  sealed: readonly string[]
  /** Files of ours that are read but not written: configuration, plugins. */
  sealedForWriting: readonly string[]
  environment: Readonly<Record<string, string | undefined>>
  snippets: SnippetStorage
  todos: Todos
  /** What agents set for their sessions. */
  session: SessionEnvironment
  print(text: string): void
  /** False for a process that ends after its call: nothing it leaves running would live. */
  stays: boolean
  /** Our own addresses, as they are now. */
  own(): readonly string[]
}

export interface Builtin {
  guards: Guards
  tools: Tool[]
  files: Files
  trash: Trash
  processes: Processes
  close(): Promise<void>
}

/** The fence, the processes and the web, the guards before them, and all tools but those of the organisation. Nothing is opened before it is used. */
export function builtin(config: Config, options: BuiltinOptions): Builtin {
  const { workspace, dataDir, home = homeFolder(), environment } = options
  const { tools = {} } = config
  const { shell = {}, hosts = {} } = tools
  const sealed = [dataDir, ...options.sealed]
  const ground = {
    workspace,
    home,
    sealed,
    sealedForWriting: options.sealedForWriting,
    roots: lines(tools.allowedPaths, "tools.allowedPaths").map(({ text: path, source }) => ({ path, source })),
    protectedPaths: lines(tools.protectedPaths, "tools.protectedPaths").map(({ text: pattern, source }) => ({
      pattern,
      source,
    })),
  }
  const lists = { allow: lines(hosts.allow, "tools.hosts.allow"), deny: lines(hosts.deny, "tools.hosts.deny") }
  const network = { ...lists, own: options.own }
  const paths = pathGuard(ground)
  const commands = commandGuard({
    workspace,
    mode: shell.mode ?? defaults.tools.shell.mode,
    allow: lines(shell.allow, "tools.shell.allow"),
    deny: lines(shell.deny, "tools.shell.deny"),
    paths: (touches, given) => paths.look(touches, given),
  })
  const { days = defaults.tools.trash.days, maxMb = defaults.tools.trash.maxMb } = tools.trash ?? {}
  const trash = { days, maxMb }
  const fence = { ...ground, dataFolder: dataDir, trash }
  const files = openFence(fence)
  const opened = openProcesses({
    files,
    roots: furtherRoots(tools.allowedPaths ?? [], workspace),
    sandbox: shell.sandbox ?? defaults.tools.shell.sandbox,
    limits: shell.limits,
    hidden: sealed,
    dataFolder: dataDir,
    trash,
    protectedPaths: tools.protectedPaths,
    home,
    sealed: options.sealedForWriting.map((path) => ({ path, meanwhile: null })),
    environment,
  })
  const processes = options.stays ? opened : { ...opened, start: refuseBackground }
  const web = openWeb(network)
  const marks = openMarkLog(join(dataDir, "read-marks"))
  const code = openCodeIndex(files, { allowedExtensions: tools.allowedExtensions })
  return {
    guards: guardsOf({ paths, commands, hosts: hostGuard(network) }),
    files,
    trash: openTrash(fence),
    processes,
    tools: [
      ...dataTools(),
      ...systemTools(options.session, environment),
      ...consoleTools(options.print),
      ...interactionTools(),
      ...artifactTools(),
      ...todoTools(options.todos),
      ...workspaceTools(files, tools, marks),
      ...codeTools(files, code, options.snippets),
      ...commandTools(processes, openJavaScript(), { timeoutMs: shell.timeout }),
      ...networkTools({ web, pages: openPages(), webSearch: tools.webSearch, environment }),
    ],
    async close() {
      marks.close()
      await Promise.all([processes.close(), web.close(), code.close()])
    },
  }
}

function refuseBackground(): Promise<never> {
  const sentence =
    "A background command needs a process that stays, such as 'qm serve' or 'qm mcp'. Run it without background."
  return Promise.reject(failure(sentence, { toolCode: "no_background" }))
}

interface Line {
  text: string
  /** Where it stands: `tools.shell.allow[2]`. */
  source: string
}

function lines(list: readonly string[] = [], key: string): Line[] {
  return list.map((text, index) => ({ text, source: `${key}[${index}]` }))
}

function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}

/** Folders outside the workspace that the configuration opens. */
function furtherRoots(written: readonly string[], workspace: string): string[] {
  return written.flatMap((path) => {
    if (/[*?[]/.test(path) || (!isAbsolute(path) && !path.startsWith(".."))) return []
    try {
      return [realpathSync(resolve(workspace, path))]
    } catch {
      return []
    }
  })
}
