import { existsSync } from "node:fs"
import { homedir } from "node:os"
import { join } from "node:path"
import { defaults, type Config } from "../config/schema.ts"
import type { ConversationContexts } from "../tools/context/context.ts"
import { failure } from "../core/ending.ts"
import type { Files, Trash } from "../platform/files/file-access.ts"
import type { Logger } from "../core/logger.ts"
import type { Guards } from "../core/guard.ts"
import type { ModuleRuntime } from "../platform/module-runtime.ts"
import { errorMessage } from "../lib/error-message.ts"
import type { SessionEnvironment } from "../store/port.ts"
import type { Processes } from "../platform/processes/process-access.ts"
import type { SnippetStorage } from "../store/snippet-store.ts"
import type { Todos } from "../store/todo-store.ts"
import type { Tool } from "../core/tool.ts"
import { commandGuard } from "../guards/commands/command-guard.ts"
import { combineGuards } from "../guards/combine-guards.ts"
import { hostGuard } from "../guards/hosts/host-guard.ts"
import { checkNamedPaths } from "../guards/commands/named-paths.ts"
import { pathGuard } from "../guards/paths/path-guard.ts"
import { artifactTools } from "../tools/artifact/index.ts"
import { codeTools } from "../tools/code/index.ts"
import { commandTools } from "../tools/command/index.ts"
import { consoleTools } from "../tools/console/index.ts"
import { databaseTools } from "../tools/database/index.ts"
import { contextTools } from "../tools/context/index.ts"
import { dataTools } from "../tools/data/index.ts"
import { interactionTools } from "../tools/interaction/index.ts"
import { networkTools } from "../tools/network/index.ts"
import type { CurrentEnvironment } from "../tools/system/get-env.ts"
import { systemTools } from "../tools/system/index.ts"
import { openUndo, type Undo } from "../platform/undo/undo.ts"
import { undoCall } from "../tools/undo/undo-call.ts"
import { todoTools } from "../tools/todo/index.ts"
import { workspaceTools } from "../tools/workspace/index.ts"
import { filesOfDatabases, journalsOf, openDatabases } from "../platform/database/databases.ts"
import { openCodeIndex } from "../platform/code/code-index.ts"
import { pathPolicyFor, openFiles, openTrash, type FilesOptions } from "../platform/files/files.ts"
import { openReadMarkLog } from "../platform/files/read-mark-log.ts"
import { openJavaScript } from "../platform/javascript/javascript.ts"
import { PrivateFolder } from "../platform/processes/private-folder.ts"
import { secretsBelow, tooManyNames } from "../platform/processes/protected-names.ts"
import { openProcesses } from "../platform/processes/processes.ts"
import type { ProtectedPath } from "../platform/processes/protected-mounts.ts"
import { findSandbox } from "../platform/processes/sandbox.ts"
import { openPages } from "../platform/web/pages.ts"
import { guardedConnect } from "../platform/web/guarded-connect.ts"
import { openWeb } from "../platform/web/web.ts"

/** The requirements of the built-in tools. */
export interface BuiltinOptions {
  /** The real path of the folder the tools work in. */
  workspace: string
  dataDir: string
  /** The home folder; the account's when left out. */
  home?: string
  /** Our own files that tools neither read nor write: tokens, keys. */
  privatePaths: readonly string[]
  /** Our own files that tools read but never write: configuration, plugins. */
  readOnlyPaths: readonly string[]
  /** The files that people talk in now, relative to the workspace. Tools do not write them. */
  openDocuments(): readonly string[]
  environment: Readonly<Record<string, string | undefined>>
  /** The environment as it is now, for `get_env`. */
  currentEnvironment: CurrentEnvironment
  snippets: SnippetStorage
  todos: Todos
  /** Variables that agents set for their sessions. */
  session: SessionEnvironment
  /** The conversations with models that run in this process. */
  contexts: ConversationContexts
  /** The most milliseconds that a call waits for its snapshot. */
  undoWaitMs?: number
  logger: Logger
  now(): number
  print(text: string): void
  /** False for a process that ends after its call: it starts no background commands. */
  longLived: boolean
  /** The addresses that Quartermaster itself listens on now. */
  ownAddresses(): readonly string[]
  /** The variables in `tools.webSearch` that are not set. */
  unsetForWebSearch?: readonly string[]
  /** The variables in `databases` that are not set, by database. */
  unsetForDatabases?: Readonly<Record<string, readonly string[]>>
  /** Reports whether the agent has one of the roles. */
  hasRole(agentId: string, roles: readonly string[]): boolean
}

export interface BuiltinParts {
  guards: Guards
  tools: Tool[]
  files: Files
  /** The same files, where documents that people talk in are written too. */
  documentFiles(): Files
  /** Connects for modules, where the host lists allow it. */
  connect: ModuleRuntime["hosts"]["connect"]
  trash: Trash
  undo: Undo
  processes: Processes
  close(): Promise<void>
}

/**
 * Creates the guards and all built-in tools except those of the organisation. Files, processes and connections open on
 * first use.
 */
export function openBuiltins(config: Config, options: BuiltinOptions): BuiltinParts {
  const { workspace, dataDir, home = homeFolder(), environment } = options
  const { tools = {} } = config
  const { shell = {}, hosts = {} } = tools
  const privatePaths = [dataDir, ...options.privatePaths]
  const { databases: databaseSettings = {} } = config
  const filesOfSqlite = filesOfDatabases(databaseSettings)
  const databaseFiles = filesOfSqlite.flatMap((file) => [file, ...journalsOf(file)])
  const { days = defaults.tools.trash.days, maxMb = defaults.tools.trash.maxMb } = tools.trash ?? {}
  const trash = { days, maxMb }
  const filesOptions: FilesOptions = {
    workspace,
    home,
    dataFolder: dataDir,
    trash,
    privatePaths,
    databaseFiles,
    readOnlyPaths: options.readOnlyPaths,
    allowedPaths: tools.allowedPaths,
    protectedPaths: lines(tools.protectedPaths, "tools.protectedPaths").map(({ text: pattern, source }) => ({
      pattern,
      source,
    })),
  }
  const pathPolicy = pathPolicyFor({ ...filesOptions, openDocuments: options.openDocuments })
  const lists = { allow: lines(hosts.allow, "tools.hosts.allow"), deny: lines(hosts.deny, "tools.hosts.deny") }
  const network = { ...lists, own: options.ownAddresses }
  const paths = pathGuard(pathPolicy)
  const mode = shell.mode ?? defaults.tools.shell.mode
  const missingSandbox = mode === "sandbox" ? () => missingSandboxReason(opened) ?? tooManyFiles() : undefined
  const commands = commandGuard({
    workspace,
    mode,
    missingSandbox,
    allow: lines(shell.allow, "tools.shell.allow"),
    deny: lines(shell.deny, "tools.shell.deny"),
    paths: (touches, call) => paths.check(touches, call),
  })
  const tooManyFiles = lookForSecrets(pathPolicy.places)
  const files = openFiles(filesOptions, pathPolicy)
  const { logger, now } = options
  const undo = openUndo({
    workspace,
    dataDir,
    isKept: (path) => files.isShown(path),
    waitMs: options.undoWaitMs,
    logger,
    now,
  })
  const opened = openProcesses({
    files,
    places: pathPolicy.places,
    sandbox: shell.sandbox ?? defaults.tools.shell.sandbox,
    limits: shell.limits,
    hidden: [...privatePaths, ...databaseFiles],
    trashFolder: join(dataDir, "trash"),
    protectedPaths: tools.protectedPaths,
    home,
    protectedFiles: [
      ...options.readOnlyPaths.map((path): ProtectedPath => ({ path, placeholder: null })),
      ...filesOfSqlite
        .filter(existsSync)
        .flatMap(journalsOf)
        .map((path): ProtectedPath => ({ path })),
    ],
    environment,
  })
  const processes = options.longLived ? opened : { ...opened, start: refuseBackground }
  const web = openWeb(network)
  const { unsetForDatabases = {} } = options
  const databases = openDatabases({
    settings: databaseSettings,
    unset: unsetForDatabases,
    dataFolder: dataDir,
    workspace,
    timeoutMs: tools.timeout ?? defaults.tools.timeout,
    hasRole: options.hasRole,
  })
  // Where there is no database, its tools would only cost tokens.
  const hasDatabases = Object.keys({ ...databaseSettings, ...unsetForDatabases }).length > 0
  const marks = openReadMarkLog(join(dataDir, "read-marks"))
  const code = openCodeIndex(files, { allowedExtensions: tools.allowedExtensions })
  return {
    guards: combineGuards({
      paths,
      commands,
      hosts: hostGuard(network),
      input: (input, named) => checkNamedPaths(input, named, pathPolicy.unnarrowed, home),
    }),
    files,
    documentFiles: () => openFiles(filesOptions),
    connect: guardedConnect(network),
    trash: openTrash(filesOptions, pathPolicy),
    undo,
    processes,
    tools: [
      ...dataTools(),
      ...systemTools(options.session, options.currentEnvironment),
      ...consoleTools(options.print),
      ...contextTools(options.contexts),
      ...interactionTools(),
      ...artifactTools(),
      ...todoTools(options.todos),
      ...workspaceTools(files, tools, marks),
      undoCall(undo, files),
      ...codeTools(files, code, options.snippets),
      ...commandTools(processes, openJavaScript(), {
        timeoutMs: shell.timeout,
        sandboxProblem: missingSandbox,
        sessionVariables: (session) => options.session.all(session),
        allowedPaths: tools.allowedPaths,
      }),
      ...(hasDatabases ? databaseTools(databases) : []),
      ...networkTools({
        web,
        pages: openPages(),
        webSearch: tools.webSearch,
        unset: options.unsetForWebSearch,
        environment,
      }),
    ],
    async close() {
      marks.close()
      await Promise.all([undo.close(), processes.close(), web.close(), code.close(), databases.close()])
    },
  }
}

/** Why commands do not run in the sandbox here; undefined when they do. The sandbox is tried once, on first use. */
function missingSandboxReason(processes: Pick<Processes, "layer">): string | undefined {
  try {
    const { kind, because } = processes.layer(false)
    return kind === "bubblewrap" ? undefined : (because ?? "there is no sandbox")
  } catch (error) {
    return errorMessage(error).replace(/\.$/, "")
  }
}

/** Why the sandbox cannot mask the secrets in these folders. One look serves a second; each run looks anew. */
function lookForSecrets(places: readonly string[]): () => string | undefined {
  let until = 0
  let problem: string | undefined
  return () => {
    if (performance.now() < until) return problem
    problem = secretsBelow(places) === undefined ? tooManyNames : undefined
    until = performance.now() + 1000
    return problem
  }
}

/** Reports whether bubblewrap works on this machine. `qm init` asks before it writes a configuration. */
export function sandboxWorks(): boolean {
  const folder = new PrivateFolder()
  try {
    return "program" in findSandbox(folder)
  } catch {
    return false
  } finally {
    folder.remove()
  }
}

function refuseBackground(): Promise<never> {
  const sentence =
    "A background command needs a process that keeps running, such as 'qm serve' or 'qm mcp'. Run it without background."
  return Promise.reject(failure(sentence, { toolCode: "no_background" }))
}

interface Line {
  text: string
  /** Its place in the configuration: `tools.shell.allow[2]`. */
  source: string
}

function lines(list: readonly string[] = [], key: string): Line[] {
  return list.map((text, index) => ({ text, source: `${key}[${index}]` }))
}

export function homeFolder(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
