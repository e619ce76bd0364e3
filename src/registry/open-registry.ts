import type { AuditReader } from "../audit/audit-reader.ts"
import type { QuartermasterEvent } from "../core/events.ts"
import type { Language } from "../core/language.ts"
import type { Logger } from "../core/logger.ts"
import type { LevelOrder, PermissionSources, ToolPermission } from "../core/permission.ts"
import type { Documents } from "../core/documents.ts"
import type { AliasSpec } from "./dialects/dialect.ts"
import { classicDialect } from "./dialects/classic.ts"
import { claudeDialect } from "./dialects/claude.ts"
import { openExperiments, type ConfiguredExperiments, type RunningExperiments } from "./experiments.ts"
import { ToolGroupManager } from "./groups.ts"
import { ToolRegistry } from "./registry.ts"

/** The configuration's settings for tools. They may name a tool by an alias. */
export interface ConfiguredTools {
  permissions?: Readonly<Record<string, ToolPermission>>
  /** From a configuration file that is not trusted yet: used only where it is stricter. */
  tightening?: Readonly<Record<string, ToolPermission>>
  permissionSources?: Readonly<Record<string, PermissionSources>>
  enabled?: readonly string[]
  experiments?: ConfiguredExperiments
}

export interface RegistryHost {
  documents: Documents
  audit: Pick<AuditReader, "export">
  logger: Logger
  levelOrder: LevelOrder
  language: Language
  emit(event: QuartermasterEvent): void
}

export interface OpenRegistry {
  registry: ToolRegistry
  groups: ToolGroupManager
  experiments: RunningExperiments
}

/** Creates the registry with aliases and experiments, still without tools. */
export function openRegistry(configured: ConfiguredTools, host: RegistryHost): OpenRegistry {
  const { documents, audit, logger, levelOrder, language, emit } = host
  const aliases = [...claudeDialect(), ...classicDialect(language)]
  const groups = new ToolGroupManager({
    logger,
    language,
    onChange: (group, change) => emit({ type: "GROUP_CHANGED", at: Date.now(), group, change }),
  })
  const experiments = openExperiments(configured.experiments ?? {}, {
    documents,
    versionsOf: (name) => [...new Set(registry.list().flatMap((tool) => (tool.name === name ? [tool.version] : [])))],
    canonical: (name) => registry.canonicalName(name),
    toolNames: () => registry.names(),
    audit,
    now: Date.now,
  })
  const registry: ToolRegistry = new ToolRegistry({
    groups,
    experimentArm: experiments.armOf,
    logger,
    levelOrder,
    permissions: byOwnNames(configured.permissions, aliases),
    tightening: byOwnNames(configured.tightening, aliases),
    permissionSources: byOwnNames(configured.permissionSources, aliases),
    enabled: configured.enabled?.map((name) => ownName(name, aliases)),
    onChange: (tool, change) => emit({ type: "TOOL_LIST_CHANGED", at: Date.now(), tool: tool.id, change }),
  })
  registry.registerAliases(aliases)
  return { registry, groups, experiments }
}

function byOwnNames<T>(table: Readonly<Record<string, T>> = {}, aliases: readonly AliasSpec[]): Record<string, T> {
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [ownName(name, aliases), value]))
}

function ownName(name: string, aliases: readonly AliasSpec[]): string {
  return aliases.find((alias) => alias.name === name)?.tool ?? name
}
