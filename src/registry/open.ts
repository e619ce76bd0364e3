import type { AuditReader } from "../model/app.ts"
import type { QuartermasterEvent } from "../model/events.ts"
import type { Logger } from "../model/logger.ts"
import type { LevelOrder, ToolPermission } from "../model/permission.ts"
import type { Documents } from "../model/documents.ts"
import type { AliasSpec } from "../model/dialect.ts"
import { classicDialect } from "./dialects/classic.ts"
import { claudeDialect } from "./dialects/claude.ts"
import { experiments, type ConfiguredExperiments, type RunningExperiments } from "./experiments.ts"
import { ToolGroupManager } from "./groups.ts"
import { ToolRegistry } from "./registry.ts"

/** What the configuration says of tools; by whichever of its names, it says it of the tool. */
export interface ConfiguredTools {
  permissions?: Readonly<Record<string, ToolPermission>> | undefined
  /** What a file nobody has trusted yet says: it counts only where it tightens. */
  tightening?: Readonly<Record<string, ToolPermission>> | undefined
  enabled?: readonly string[] | undefined
  experiments?: ConfiguredExperiments | undefined
}

export interface RegistryHost {
  documents: Documents
  audit: Pick<AuditReader, "export">
  logger: Logger
  levelOrder: LevelOrder
  emit(event: QuartermasterEvent): void
}

export interface OpenRegistry {
  registry: ToolRegistry
  groups: ToolGroupManager
  trials: RunningExperiments
}

/** The registry of a house, still without tools: it knows the other names they have, and the experiments with them. */
export function openRegistry(configured: ConfiguredTools, host: RegistryHost): OpenRegistry {
  const { documents, audit, logger, levelOrder, emit } = host
  const aliases = [...claudeDialect(), ...classicDialect()]
  const groups = new ToolGroupManager({
    logger,
    onChange: (group, change) => emit({ type: "GROUP_CHANGED", at: Date.now(), group, change }),
  })
  const trials = experiments(configured.experiments ?? {}, {
    documents,
    versionsOf: (name) => [...new Set(registry.list().flatMap((tool) => (tool.name === name ? [tool.version] : [])))],
    canonical: (name) => registry.nameOf(name),
    toolNames: () => registry.names(),
    audit,
    now: Date.now,
  })
  const registry: ToolRegistry = new ToolRegistry({
    groups,
    experimentArm: trials.armOf,
    logger,
    levelOrder,
    permissions: byOwnNames(configured.permissions, aliases),
    tightening: byOwnNames(configured.tightening, aliases),
    enabled: configured.enabled?.map((name) => ownName(name, aliases)),
    onChange: (tool, change) => emit({ type: "TOOL_LIST_CHANGED", at: Date.now(), tool: tool.id, change }),
  })
  registry.registerAliases(aliases)
  return { registry, groups, trials }
}

function byOwnNames<T>(table: Readonly<Record<string, T>> = {}, aliases: readonly AliasSpec[]): Record<string, T> {
  return Object.fromEntries(Object.entries(table).map(([name, said]) => [ownName(name, aliases), said]))
}

function ownName(name: string, aliases: readonly AliasSpec[]): string {
  return aliases.find((alias) => alias.name === name)?.tool ?? name
}
