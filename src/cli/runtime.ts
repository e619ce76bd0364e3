import { resolve } from "node:path"
import { findConfig, userConfigFolder } from "../config/find.ts"
import type { LoadedConfig } from "../config/load.ts"
import { errorMessage } from "../lib/error-message.ts"
import { StoreUnavailable } from "../model/ending.ts"
import type { QuartermasterOptions } from "../quartermaster.ts"
import type { Flags, Io, OpenOptions, Runtime } from "./context.ts"
import { configOverrides, UsageError } from "./usage.ts"
import { version } from "./version.ts"

/** Loads the configuration and opens the app as this process. Each part is imported when it is first needed. */
export function processRuntime({ cwd, env, home }: Io): Runtime {
  return {
    async loadConfig({ config: configPath, set, data }: Flags) {
      const overrides = configOverrides(set, data)
      const isConfigured =
        configPath !== undefined || Object.keys(overrides).length > 0 || Object.keys(env).some(isConfigVariable)
      // Reading a configuration takes time to load; most calls have none.
      if (!isConfigured && findConfig(cwd, env, home) === undefined) return defaultConfig(cwd)
      const { loadConfig } = await import("../config/load.ts")
      return loadConfig({ cwd, env, home, configPath, overrides })
    },

    async openApp({ config, dataDir, permissions, ruleSources, files }, openOptions: OpenOptions = {}) {
      const { longLived = false, ...parts } = openOptions
      const { requireKnownFolder } = await import("../config/known-folders.ts")
      requireKnownFolder(dataDir, { home, env, named: config.data?.dir !== undefined })
      const { createQuartermaster } = await import("../app.ts")
      const options: QuartermasterOptions = {
        ...parts,
        environment: withoutToken(env),
        version: version(),
        home,
        privatePaths: [userConfigFolder(home)],
        readOnlyPaths: files,
        ...(longLived ? { writes: "journal" } : { writes: "direct", sweepMs: 0 }),
        tightening: permissions.untrusted,
        ruleSources,
      }
      const tools = { ...config.tools, permissions: permissions.trusted }
      try {
        return await createQuartermaster({ ...config, tools, data: { ...config.data, dir: dataDir } }, options)
      } catch (error) {
        if (error instanceof StoreUnavailable) throw error
        throw new UsageError(errorMessage(error))
      }
    },

    async identifyPerson(as, { config }, app) {
      const { identifyPerson } = await import("../config/identify-person.ts")
      return identifyPerson({ as, home, env, org: app.org, configured: config.org?.people })
    },
  }
}

function defaultConfig(cwd: string): LoadedConfig {
  return {
    config: {},
    files: [],
    dataDir: resolve(cwd, ".quartermaster"),
    warnings: [],
    trusted: true,
    permissions: { trusted: {}, untrusted: {} },
    ruleSources: [],
  }
}

function isConfigVariable(name: string): boolean {
  return name.startsWith("QM_") || name === "QUARTERMASTER_DATA"
}

/** The environment as tools may see it, without the token that proves who the person is. */
function withoutToken(env: Io["env"]): Io["env"] {
  const { QM_PERSON_TOKEN: _, ...rest } = env
  return rest
}
