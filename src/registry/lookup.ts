import type { AgentView } from "../core/organisation.ts"
import { strictestPermission, type LevelOrder } from "../core/permission.ts"
import type { Layer, RegisteredTool } from "../core/tool.ts"
import type { Aliases } from "./aliases.ts"
import { withRegistration, registrationOf } from "./registered-tool.ts"
import type { ToolLayers } from "./tool-layers.ts"
import type { WireNames } from "./wire-names.ts"

/** The sources of tools, and the decision between versions of one name. */
export interface LookupSources {
  layers: ToolLayers
  aliases: Aliases
  wireNames(): WireNames
  /** Of versions in several groups, those that the agent may use. */
  versionsFor(
    versions: readonly RegisteredTool[] | undefined,
    who: AgentView | undefined,
  ): readonly RegisteredTool[] | undefined
  experimentArm?: (tool: string, agentId: string) => string | undefined
  levelOrder?: LevelOrder
}

/** Finds the tool with a name. */
export class Lookup {
  readonly #sources: LookupSources
  readonly #restricted = new WeakMap<RegisteredTool, WeakMap<RegisteredTool, RegisteredTool>>()

  constructor(sources: LookupSources) {
    this.#sources = sources
  }

  /** See `ToolRegistry.resolve`. */
  resolve(written: string, who: AgentView | undefined): RegisteredTool | undefined {
    const at = written.indexOf("@")
    const name = at === -1 ? written : written.slice(0, at)
    const requested = at === -1 ? undefined : written.slice(at + 1)
    const pinned = this.#pinOf(who, name)
    if (pinned !== undefined && requested !== undefined && requested !== pinned) return undefined
    const found = requested === undefined ? this.#defaultFor(name, pinned, who) : this.#find(name, requested, who)
    if (found !== undefined) {
      const isOwnChoice = requested !== undefined && pinned === undefined && who !== undefined
      const usual = isOwnChoice ? this.#defaultFor(name, pinned, who) : found
      return usual === undefined || usual === found ? found : this.#cover(found, usual)
    }
    const { wireNames, aliases } = this.#sources
    const own = wireNames().fromWire(name) ?? aliases.find(name, who?.role.dialect)?.tool
    return own === undefined || own === name ? undefined : this.resolve(written.replace(name, own), who)
  }

  /** A pin may name the tool by an alias. */
  #pinOf(who: AgentView | undefined, name: string): string | undefined {
    if (who === undefined) return undefined
    const alias = Object.keys(who.pins).find((key) => this.#sources.aliases.find(key, undefined)?.tool === name)
    return pinOf(who, name) ?? (alias === undefined ? undefined : who.pins[alias])
  }

  #find(name: string, version: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    const { layers, versionsFor } = this.#sources
    if (layers.hasOnlySystemLayer) return pick(versionsFor(layers.system.get(name), who), version)
    return this.#findInLayers(name, version, who)
  }

  /**
   * The version for a call that names none: the pinned one, else the agent's arm of an experiment, else the newest. An
   * experiment has no effect when a tool of another layer covers its tool.
   */
  #defaultFor(name: string, pinned: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    const usual = this.#find(name, pinned, who)
    if (usual === undefined || pinned !== undefined || who === undefined) return usual
    const version = this.#sources.experimentArm?.(name, who.agent.id)
    if (version === undefined || version === usual.version) return usual
    const arm = this.#find(name, version, who)
    return arm?.enabled === true && arm.layer === usual.layer ? arm : usual
  }

  /** A version that only an upper layer has still covers the tools of that name in the layers below. */
  #findInLayers(name: string, version: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    const { layers, versionsFor } = this.#sources
    const all = layersOf(who).flatMap((layer) => {
      const versions = versionsFor(layers.inLayer(layer)?.get(name), who)
      return versions === undefined ? [] : [versions]
    })
    const first = all.findIndex((versions) => pick(versions, version) !== undefined)
    if (first === -1) return undefined
    const found = all.slice(first).map((versions) => pick(versions, version) ?? pick(versions, undefined)!)
    return found.reduceRight((below, tool) => this.#cover(tool, below))
  }

  /** The tool with every restriction of the one it covers. */
  #cover(tool: RegisteredTool, below: RegisteredTool): RegisteredTool {
    let known = this.#restricted.get(tool)
    if (known === undefined) this.#restricted.set(tool, (known = new WeakMap()))
    let covered = known.get(below)
    if (covered === undefined) {
      const permission = strictestPermission(tool.permission, below.permission, this.#sources.levelOrder)
      const sameNameTools = [...new Set([tool, below].flatMap((one) => one.sameNameTools ?? [one]))]
      const missingDependencies = [...(tool.missingDependencies ?? []), ...(below.missingDependencies ?? [])]
      const enabled = tool.enabled && below.enabled
      covered = withRegistration(tool, {
        ...registrationOf(tool),
        enabled,
        missingDependencies,
        permission,
        sameNameTools,
      })
      known.set(below, covered)
    }
    return covered
  }
}

/** The layers of an agent, its own first. */
export function layersOf(who: AgentView | undefined): Layer[] {
  if (who === undefined) return ["system"]
  const department: Layer[] = who.department === undefined ? [] : [`department:${who.department}`]
  return [`agent:${who.agent.id}`, ...department, "system"]
}

function pinOf(who: AgentView, name: string): string | undefined {
  return Object.hasOwn(who.pins, name) ? who.pins[name] : undefined
}

/** The requested version, or else the newest that is enabled. */
function pick(
  versions: readonly RegisteredTool[] | undefined,
  version: string | undefined,
): RegisteredTool | undefined {
  if (versions === undefined) return undefined
  if (version !== undefined) return versions.find((tool) => tool.version === version)
  return versions.find((tool) => tool.enabled) ?? versions[0]
}
