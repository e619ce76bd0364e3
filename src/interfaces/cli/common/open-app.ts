import type { Quartermaster } from "../../../app/quartermaster.ts"
import { errorMessage } from "../../../lib/error-message.ts"
import type { ChangedBy } from "../../../org/organisation-admin.ts"
import type { LoadedConfig } from "../../../config/load.ts"
import type { CliContext, Io, OpenOptions } from "./context.ts"
import { printMessage } from "./output.ts"
import { NotAllowed } from "./usage.ts"

/** The warnings that a command has printed. One that opens the app twice says them once. */
const printed = new WeakMap<CliContext, Set<string>>()

/** Loads the configuration and prints its warnings. */
export async function loadConfigWithWarnings(context: CliContext): Promise<LoadedConfig> {
  const loaded = await context.runtime.loadConfig(context.flags)
  for (const warning of loaded.warnings) {
    const before = printed.get(context) ?? new Set()
    if (!before.has(warning)) printMessage(context, `Warning: ${warning}`)
    printed.set(context, before.add(warning))
  }
  return loaded
}

/** Opens the app, runs `work` and closes the app in any case. */
export async function withApp<T>(
  context: CliContext,
  options: OpenOptions,
  work: (app: Quartermaster, loaded: LoadedConfig) => T | Promise<T>,
): Promise<T> {
  const loaded = await loadConfigWithWarnings(context)
  const app = await context.runtime.openApp(loaded, options)
  try {
    return await work(app, loaded)
  } finally {
    // Without a running server, commands end expired calls. If that fails, the next command tries again.
    await app.sweep().catch(() => {})
    await app.close()
  }
}

/** Like `withApp`, for commands that change or answer something as a person. */
export function withPerson(
  context: CliContext,
  work: (app: Quartermaster, by: ChangedBy, loaded: LoadedConfig) => Promise<number>,
): Promise<number> {
  return withApp(context, {}, async (app, loaded) => work(app, await personOf(context, app, loaded), loaded))
}

/** The person named by `--as`, otherwise the user of this machine. Throws if their identity is not proved. */
export async function personOf(
  { runtime, flags }: CliContext,
  app: Quartermaster,
  loaded: LoadedConfig,
): Promise<ChangedBy> {
  try {
    const { id } = await runtime.identifyPerson(flags.as, loaded, app)
    return { kind: "person", id }
  } catch (error) {
    throw new NotAllowed(errorMessage(error))
  }
}

/** Reports whether a person at this terminal can be asked. A program an agent started may have one but is no person. */
export function isAttended(io: Io): boolean {
  return !isInsideTool(io) && io.stdin.isTTY && io.stderr.isTTY && io.isInForeground?.() !== false
}

export function isInsideTool({ env }: Io): boolean {
  return Boolean(env["QM_INSIDE"])
}
