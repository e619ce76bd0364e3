import { readOnlyTrusted } from "../config/mcp-servers.ts"
import type { Config } from "../config/schema.ts"
import { createPolicy } from "../policy/decide/create-policy.ts"
import type { BuiltinTools, Catalog } from "./catalog.ts"
import type { Organisation } from "./organisation.ts"
import type { Setup } from "./setup.ts"
import type { Storage } from "./storage.ts"

export type PolicyParts = ReturnType<typeof openPolicy>

/** Rules, grants and checks over the tools and the organisation. */
export function openPolicy(
  { config, options, settings }: Setup,
  { documents }: Storage,
  { registry, groupList }: Catalog,
  { org, personSince, modes }: Organisation,
  { guards }: BuiltinTools,
) {
  return createPolicy(
    {
      rules: config.rules,
      sources: options.ruleSources,
      readOnlyTrusted: readOnlyTrusted(config),
      decisive: decisiveConfig(config),
    },
    {
      documents,
      registry,
      groups: groupList,
      org,
      guards,
      personSince,
      modeOf: modes.modeOf,
      workspace: settings.workspace,
    },
  )
}

/** The parts of the configuration that affect decisions; the audit log contains their hash. */
function decisiveConfig(config: Config) {
  const { org, agents, rules, approvals, experiments } = config
  const databases = Object.entries(config.databases ?? {}).map(([name, { url: _secret, ...entry }]) => ({
    name,
    ...entry,
  }))
  const { askIntent: _decidesNothing, ...tools } = config.tools ?? {}
  const trusted = readOnlyTrusted(config)
  return {
    tools,
    org,
    agents,
    rules,
    approvals,
    experiments,
    ...(trusted.length === 0 ? {} : { trusted }),
    ...(databases.length === 0 ? {} : { databases }),
  }
}
