import { resolve } from "node:path"
import type { CallSettings } from "../call/state/ports.ts"
import { callSettings } from "../config/call-settings.ts"
import { databaseSecrets } from "../config/databases-schema.ts"
import { requireFolderOfProgram } from "../config/known-folders.ts"
import { modelEntries } from "../config/models-schema.ts"
import type { Config } from "../config/schema.ts"
import { keyVariables } from "../agents/models/open-models.ts"
import { silentLogger, type Logger } from "../core/logger.ts"
import { printable } from "../lib/printable.ts"
import { newOwnerName } from "../store/sqlite/owner.ts"
import type { AppOptions } from "./app-options.ts"
import { homeFolder } from "./builtin.ts"

/** The configuration and the options of the host, with the defaults of what they leave out. */
export interface Setup {
  readonly config: Config
  readonly options: AppOptions
  readonly settings: CallSettings
  readonly logger: Logger
  /** The name of this process as the owner of calls. */
  readonly owner: string
  readonly dataDir: string
  /** True if this process makes one call and exits. */
  readonly isShort: boolean
  readonly environment: Readonly<Record<string, string | undefined>>
  /** The environment as tools may see it. */
  toolEnvironment(): Readonly<Record<string, string | undefined>>
  /** Texts that no record shows. Plugins add theirs. */
  readonly secrets: string[]
  print(text: string): void
  now(): number
}

export function readSetup(config: Config, options: AppOptions): Setup {
  const environment = options.environment ?? process.env
  const dataDir = resolve(config.data?.dir ?? ".quartermaster")
  requireFolderOfProgram(dataDir, config.data, { home: options.home ?? homeFolder(), env: environment })
  const known = knownSecrets(config, environment)
  return {
    config,
    options,
    settings: { ...callSettings(config, options.workspace), keepWithheld: options.keepWithheld },
    logger: options.logger ?? silentLogger,
    owner: newOwnerName(),
    dataDir,
    isShort: options.writes === "direct",
    environment,
    toolEnvironment: known.otherVariables,
    secrets: [...known.values],
    print: options.print ?? ((text) => void process.stderr.write(`${printable(text)}\n`)),
    now: Date.now,
  }
}

/**
 * The keys of models and the addresses of databases, which no record shows, and the environment without them, which
 * tools get.
 */
function knownSecrets({ models, databases }: Config, environment: Setup["environment"]) {
  const variables = keyVariables(modelEntries(models))
  const ofDatabases = databaseSecrets(databases)
  const keys = variables.map((name) => environment[name]?.trim() ?? "").filter((key) => key.length >= 8)
  const isOther = ([name, value = ""]: [string, string | undefined]) =>
    !variables.includes(name) && !ofDatabases.some((secret) => value.includes(secret))
  return {
    values: [...keys, ...ofDatabases],
    otherVariables: () => Object.fromEntries(Object.entries(environment).filter(isOther)),
  }
}
