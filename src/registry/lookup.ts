import type { AgentView } from "../model/organisation.ts"
import { strictest, type LevelOrder } from "../model/permission.ts"
import type { Layer, RegisteredTool } from "../model/tool.ts"
import type { AliasBook } from "./aliases.ts"
import { asRegistered, placeOf } from "./registered.ts"
import type { Shelves } from "./shelves.ts"
import type { WireNames } from "./wire-names.ts"

/** Where tools are looked for, and what decides between those of one name. */
export interface LookupGround {
  shelves: Shelves
  aliases: AliasBook
  wireNames(): WireNames
  /** Of versions in several groups, those that are this agent's. */
  among(
    versions: readonly RegisteredTool[] | undefined,
    who: AgentView | undefined,
  ): readonly RegisteredTool[] | undefined
  experimentArm?: ((tool: string, agentId: string) => string | undefined) | undefined
  levelOrder?: LevelOrder | undefined
}

/** Finds the tool that is meant by a name. */
export class Lookup {
  readonly #ground: LookupGround
  readonly #restricted = new WeakMap<RegisteredTool, WeakMap<RegisteredTool, RegisteredTool>>()

  constructor(ground: LookupGround) {
    this.#ground = ground
  }

  /**
   * The tool this agent means: its own layer's, its department's, the system's. `name@version` means just that version;
   * an agent that is held to a version has no other. One that an agent asks for itself has every restriction of the one
   * it would have been given.
   */
  resolve(written: string, who: AgentView | undefined): RegisteredTool | undefined {
    const at = written.indexOf("@")
    const name = at === -1 ? written : written.slice(0, at)
    const asked = at === -1 ? undefined : written.slice(at + 1)
    const pinned = this.#pinOf(who, name)
    if (pinned !== undefined && asked !== undefined && asked !== pinned) return undefined
    const found = asked === undefined ? this.#given(name, pinned, who) : this.#find(name, asked, who)
    if (found !== undefined) {
      const isOwnWish = asked !== undefined && pinned === undefined && who !== undefined
      const given = isOwnWish ? this.#given(name, pinned, who) : found
      return given === undefined || given === found ? found : this.#cover(found, given)
    }
    const { wireNames, aliases } = this.#ground
    const meant = wireNames().fromWire(name) ?? aliases.named(name, who?.role.dialect)?.tool
    return meant === undefined || meant === name ? undefined : this.resolve(written.replace(name, meant), who)
  }

  /** A pin by another name of a tool is one of the tool. */
  #pinOf(who: AgentView | undefined, name: string): string | undefined {
    if (who === undefined) return undefined
    const other = Object.keys(who.pins).find((key) => this.#ground.aliases.named(key, undefined)?.tool === name)
    return pinOf(who, name) ?? (other === undefined ? undefined : who.pins[other])
  }

  #find(name: string, version: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    const { shelves, among } = this.#ground
    if (shelves.isFlat) return pick(among(shelves.system.get(name), who), version)
    return this.#findInLayers(name, version, who)
  }

  /**
   * What an agent is given that asks for no version: the one it is held to, else its arm of an experiment, else the
   * newest. An experiment with a tool does not reach past one that covers it.
   */
  #given(name: string, pinned: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    const usual = this.#find(name, pinned, who)
    if (usual === undefined || pinned !== undefined || who === undefined) return usual
    const version = this.#ground.experimentArm?.(name, who.agent.id)
    if (version === undefined || version === usual.version) return usual
    const arm = this.#find(name, version, who)
    return arm?.enabled === true && arm.layer === usual.layer ? arm : usual
  }

  /** A version that only an upper layer has still hides what the layers below offer by that name. */
  #findInLayers(name: string, version: string | undefined, who: AgentView | undefined): RegisteredTool | undefined {
    const { shelves, among } = this.#ground
    const all = layersOf(who).flatMap((layer) => {
      const versions = among(shelves.of(layer)?.get(name), who)
      return versions === undefined ? [] : [versions]
    })
    const first = all.findIndex((versions) => pick(versions, version) !== undefined)
    if (first === -1) return undefined
    const found = all.slice(first).map((versions) => pick(versions, version) ?? pick(versions, undefined)!)
    return found.reduceRight((below, tool) => this.#cover(tool, below))
  }

  /** The tool with every restriction of the one it hides. */
  #cover(tool: RegisteredTool, below: RegisteredTool): RegisteredTool {
    let known = this.#restricted.get(tool)
    if (known === undefined) this.#restricted.set(tool, (known = new WeakMap()))
    let covered = known.get(below)
    if (covered === undefined) {
      const permission = strictest(tool.permission, below.permission, this.#ground.levelOrder)
      const together = [...new Set([tool, below].flatMap((one) => one.together ?? [one]))]
      const lacks = [...(tool.lacks ?? []), ...(below.lacks ?? [])]
      const enabled = tool.enabled && below.enabled
      covered = asRegistered(tool, { ...placeOf(tool), enabled, lacks, permission, together })
      known.set(below, covered)
    }
    return covered
  }
}

/** Where an agent's tools are looked for, its own layer first. */
export function layersOf(who: AgentView | undefined): Layer[] {
  if (who === undefined) return ["system"]
  const department: Layer[] = who.department === undefined ? [] : [`department:${who.department}`]
  return [`agent:${who.agent.id}`, ...department, "system"]
}

function pinOf(who: AgentView, name: string): string | undefined {
  return Object.hasOwn(who.pins, name) ? who.pins[name] : undefined
}

/** The version that is meant, or else the newest that is switched on. */
function pick(
  versions: readonly RegisteredTool[] | undefined,
  version: string | undefined,
): RegisteredTool | undefined {
  if (versions === undefined) return undefined
  if (version !== undefined) return versions.find((tool) => tool.version === version)
  return versions.find((tool) => tool.enabled) ?? versions[0]
}
