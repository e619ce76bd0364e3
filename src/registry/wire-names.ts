import { createHash } from "node:crypto"
import type { RegisteredTool } from "../core/tool.ts"

const legal = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const longest = 64

/** The wire name of a tool when it does not clash with another: `mcp:server:tool` becomes `server__tool`. */
export function wireName(internalName: string): string {
  if (legal.test(internalName)) return internalName
  const mcp = /^mcp:([^:]+):(.+)$/su.exec(internalName)
  const spelled = (mcp === null ? internalName : `${mcp[1]}__${mcp[2]}`).replace(/[^A-Za-z0-9_-]/gu, "_")
  const base = /^[A-Za-z_]/.test(spelled) ? spelled : `_${spelled}`
  return base.length > longest ? hashed(base, internalName) : base
}

/**
 * The two-way map between tool names and wire names. A name that providers accept stays as it is. Names whose wire names
 * would clash all get a hash, so that the order of registration does not matter.
 */
export class WireNames {
  readonly #wires = new Map<string, string>()
  readonly #names = new Map<string, string>()

  /** `chosen` are wire names that tools set themselves. One that clashes with another is ignored. */
  constructor(names: Iterable<string>, chosen: ReadonlyMap<string, string> = new Map()) {
    const all = [...new Set(names)].sort()
    const wished = (name: string) => chosen.get(name) ?? wireName(name)
    const spellings = new Map<string, number>()
    for (const name of all) spellings.set(wished(name), (spellings.get(wished(name)) ?? 0) + 1)

    const meeting: string[] = []
    for (const name of all) {
      const wire = wished(name)
      if (wire === name || spellings.get(wire) === 1) this.#pair(name, wire)
      else meeting.push(name)
    }
    for (const name of meeting) this.#pair(name, this.#free(name))
  }

  /** Throws for an unknown name: its derived wire name could belong to another tool. */
  toWire(name: string): string {
    const wire = this.#wires.get(name)
    if (wire === undefined) {
      throw new Error(`The tool ${JSON.stringify(name)} has no wire name; make WireNames from all shown tools.`)
    }
    return wire
  }

  fromWire(wire: string): string | undefined {
    return this.#names.get(wire)
  }

  #pair(name: string, wire: string): void {
    this.#wires.set(name, wire)
    this.#names.set(wire, name)
  }

  #free(name: string): string {
    const base = wireName(name)
    let wire = hashed(base, name)
    for (let salt = 1; this.#names.has(wire); salt++) wire = hashed(base, `${name}\0${salt}`)
    return wire
  }
}

/**
 * The wire names of all tools. A wire name that a tool sets itself is used unless it is reserved. A quarantined tool never
 * takes a name from another tool.
 */
export function buildWireNames(
  layers: Iterable<ReadonlyMap<string, readonly RegisteredTool[]>>,
  isReserved: (name: string) => boolean,
): WireNames {
  const newest = [...layers].flatMap((layer) => [...layer].map(([name, [first]]) => ({ name, tool: first })))
  const chosen = new Map<string, string>()
  const kept = new Set<string>()
  for (const { name, tool } of newest) {
    if (tool?.wireName !== undefined && !isReserved(tool.wireName)) chosen.set(name, tool.wireName)
    if (tool?.quarantine === undefined) kept.add(tool?.wireName ?? wireName(name))
  }
  for (const { name, tool } of newest) {
    if (tool?.quarantine !== undefined && kept.has(chosen.get(name) ?? wireName(name))) {
      chosen.set(name, wireName(`${name}:quarantined`))
    }
  }
  return new WireNames(
    newest.map(({ name }) => name),
    chosen,
  )
}

function hashed(base: string, source: string): string {
  const hash = createHash("sha256").update(source).digest("hex").slice(0, 8)
  return `${base.slice(0, longest - hash.length - 1)}_${hash}`
}
