import { refuseBadConfig } from "../config/check-configuration.ts"
import type { Config } from "../config/schema.ts"
import { openStore, type Store } from "../store/sqlite/store.ts"
import { startTracing } from "../telemetry/start-tracing.ts"
import { openAgents } from "./agents.ts"
import type { AppOptions } from "./app-options.ts"
import { openCalls } from "./calls.ts"
import { addBuiltinTools, connectExtensions, openCatalog } from "./catalog.ts"
import { Emitter } from "./emitter.ts"
import { ToolExecutor } from "./executor.ts"
import { startHousekeeping } from "./housekeeping.ts"
import { openOrganisation } from "./organisation.ts"
import { openPolicy } from "./policy.ts"
import type { Quartermaster } from "./quartermaster.ts"
import { readSetup, type Setup } from "./setup.ts"
import { openStorage } from "./storage.ts"

/** Opens the store and creates the app over it. */
export async function createQuartermaster(config: Config = {}, options: AppOptions = {}): Promise<Quartermaster> {
  refuseBadConfig(config)
  const setup = readSetup(config, options)
  const { dataDir, owner, logger } = setup
  const store = await openStore({ dataDir, owner, logger, writes: options.writes ?? "journal" })
  try {
    const app = await createApp(setup, store)
    await app.plugins.start()
    await app.rules.ready()
    return app
  } catch (error) {
    await store.close()
    throw error
  }
}

/** Puts the parts together, each from those before it. */
export async function createApp(setup: Setup, store: Store): Promise<Quartermaster> {
  const { config, options } = setup
  const emitter = new Emitter(setup.logger)
  const on: Quartermaster["on"] = (type, listener) => emitter.on(type, listener)
  const storage = openStorage(store, setup)
  const catalog = openCatalog(setup, storage, emitter)
  const organisation = openOrganisation(setup, storage, emitter, catalog.groupList)
  const builtins = addBuiltinTools(setup, storage, catalog, organisation)
  const policy = openPolicy(setup, storage, catalog, organisation, builtins)
  const parts = { storage, emitter, catalog, organisation, builtins, policy }
  const calls = openCalls(setup, parts)
  const agents = openAgents(setup, parts, calls)
  const extensions = await connectExtensions(setup, storage, catalog, builtins)
  await startTracing(config.telemetry, options.telemetry, on, {
    masker: storage.ports.masker,
    tool: (name) => catalog.registry.get(name),
  })
  return {
    on,
    audit: storage.audit,
    ...storage.api,
    ...catalog.api,
    ...organisation.api,
    ...builtins.api,
    ...calls.api,
    ...agents.api,
    ...extensions,
    ...startHousekeeping(setup, parts, { calls, agents, extensions }),
    executor: (agentId) => new ToolExecutor(calls.api, catalog.registry, agentId ?? config.agent ?? "operator"),
  }
}
