import { join, resolve } from "node:path"
import { dataFolderName, findProject } from "../../../config/find-project.ts"
import { findConfig, userConfigFolder } from "../../../config/find.ts"
import type { LoadedConfig } from "../../../config/load.ts"
import type { Config } from "../../../config/schema.ts"
import { errorMessage } from "../../../lib/error-message.ts"
import { StoreUnavailable } from "../../../core/ending.ts"
import type { AppOptions } from "../../../app/app-options.ts"
import type { Flags, Io, OpenOptions, Runtime } from "./context.ts"
import { temporaryStore } from "./temporary-store.ts"
import { CannotOpen, configOverrides } from "./usage.ts"
import { version } from "./version.ts"

/** Loads the configuration and opens the app as this process. Each part is imported when it is first needed. */
export function processRuntime({ cwd, env, home }: Io): Runtime {
  return {
    async loadConfig({ config: configPath, set, data }: Flags) {
      const overrides = configOverrides(set, data)
      const isConfigured =
        configPath !== undefined || Object.keys(overrides).length > 0 || Object.keys(env).some(isConfigVariable)
      // Reading a configuration takes time to load; most calls have none.
      const project = findProject(cwd, home)
      if (!isConfigured && findConfig({ cwd, env, home }, project) === undefined) return defaultConfig(cwd, project)
      const { loadConfig } = await import("../../../config/load.ts")
      return loadConfig({ cwd, env, home, configPath, overrides })
    },

    async openApp(loaded, openOptions: OpenOptions = {}) {
      const { config, dataDir, workspace, permissions, permissionSources, ruleSources, files, unset } = loaded
      const { longLived = false, readOnly = false, ...parts } = openOptions
      const { isNew, requireKnownFolder } = await import("../../../config/known-folders.ts")
      const isTemporary = readOnly && !remembersTools(config) && isNew(dataDir)
      const store = isTemporary ? temporaryStore() : { dataDir, remove: () => {} }
      if (!isTemporary) requireKnownFolder(dataDir, { home, env, named: config.data?.dir !== undefined })
      const { createQuartermaster } = await import("../../../app/create-app.ts")
      const options: AppOptions = {
        // Commands say themselves what waits.
        onWaiting: () => {},
        ...parts,
        environment: withoutToken(env),
        version: version(),
        home,
        workspace,
        privatePaths: [userConfigFolder(home), dataDir],
        readOnlyPaths: files,
        ...(longLived ? { writes: "journal" } : { writes: "direct", sweepMs: 0 }),
        tightening: permissions.untrusted,
        permissionSources,
        ruleSources,
        unset,
      }
      const tools = { ...config.tools, permissions: permissions.trusted }
      const data = { ...config.data, dir: store.dataDir }
      try {
        const app = await createQuartermaster({ ...config, tools, data }, options)
        return isTemporary ? { ...app, close: () => app.close().finally(store.remove) } : app
      } catch (error) {
        store.remove()
        if (error instanceof StoreUnavailable) throw error
        throw new CannotOpen(errorMessage(error))
      }
    },

    async identifyPerson(as, { config, dataDir }, app) {
      const { identifyPerson } = await import("../../../config/identify-person.ts")
      return identifyPerson({ as, home, env, dataDir, org: app.org, configured: config.org?.people })
    },
  }
}

function defaultConfig(cwd: string, project: string | undefined): LoadedConfig {
  const folder = resolve(project ?? cwd)
  return {
    config: {},
    files: [],
    dataDir: join(folder, dataFolderName),
    workspace: folder,
    ...(project === undefined ? {} : { project }),
    warnings: [],
    trusted: true,
    ignored: [],
    ignoredAgents: [],
    permissions: { trusted: {}, untrusted: {} },
    permissionSources: {},
    ruleSources: [],
    unset: { servers: {}, models: {}, databases: {}, webSearch: [] },
  }
}

/** The tools of MCP servers and plugins are remembered when they are first seen, which needs a store. */
function remembersTools({ mcpServers, plugins, modules }: Config): boolean {
  return [mcpServers, plugins, modules].some((given) => given !== undefined && Object.keys(given).length > 0)
}

export function isConfigVariable(name: string): boolean {
  return name.startsWith("QM_") || name === "QUARTERMASTER_DATA"
}

/** The environment as tools may see it, without the token that proves who the person is. */
function withoutToken(env: Io["env"]): Io["env"] {
  const { QM_PERSON_TOKEN: _, ...rest } = env
  return rest
}
