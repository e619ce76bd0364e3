import { canonicalJson, sha256 } from "../model/plain.ts"
import type { Ports, ResultCache } from "../model/ports.ts"
import type { RegisteredTool } from "../model/tool.ts"
import type { Walk } from "./walk.ts"

const mostEntries = 1000
const mostCharacters = 32 * 1024 * 1024

/** The results used last, as many as fit. A value is kept as text, so that nobody can change it afterwards. */
export class LastResults implements ResultCache {
  readonly #entries = new Map<string, { text: string; until: number }>()
  #characters = 0

  get(key: string, at: number): { value: unknown } | undefined {
    const found = this.#entries.get(key)
    if (found === undefined) return undefined
    this.#drop(key, found.text)
    if (found.until <= at) return undefined
    this.#add(key, found)
    return { value: JSON.parse(found.text) as unknown }
  }

  set(key: string, value: unknown, until: number): void {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined || text.length > mostCharacters / 8) return
    const before = this.#entries.get(key)
    if (before !== undefined) this.#drop(key, before.text)
    this.#add(key, { text, until })
    for (const [oldest, entry] of this.#entries) {
      if (this.#entries.size <= mostEntries && this.#characters <= mostCharacters) return
      this.#drop(oldest, entry.text)
    }
  }

  #add(key: string, entry: { text: string; until: number }): void {
    this.#entries.set(key, entry)
    this.#characters += entry.text.length
  }

  #drop(key: string, text: string): void {
    this.#entries.delete(key)
    this.#characters -= text.length
  }
}

/**
 * The result of the same call before: of the same tool, agent, workspace and input, while no touched file has changed or
 * for as long as the tool says; else what `execute` comes to. The call itself is decided, counted and recorded either way.
 */
export async function fromCache(
  walk: Walk,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
  execute: () => Promise<unknown>,
): Promise<unknown> {
  const { cache } = tool
  const key = cache === undefined || cache === false ? undefined : keyOf(walk, tool, input, ports)
  if (cache === undefined || key === undefined) return execute()
  const at = ports.now()
  const known = ports.cache.get(key, at)
  if (known !== undefined) {
    walk.cached = true
    const about = { callId: walk.callId, at, agentId: walk.request.agentId, tool: tool.name }
    await ports.recorder.keep({ kind: "note", ...about, text: "Answered from the cache." }, ports.settings.durability)
    return known.value
  }
  const value = await execute()
  // A file that changed while the tool ran may be in the value or not.
  if (keyOf(walk, tool, input, ports) === key) {
    ports.cache.set(key, value, typeof cache === "object" ? at + cache.ttlMs : Infinity)
  }
  return value
}

function keyOf(walk: Walk, tool: RegisteredTool, input: unknown, ports: Ports): string | undefined {
  const files = typeof tool.cache === "object" ? "" : filesOf(walk, tool, ports)
  if (files === undefined) return undefined
  const { agentId, allowedPaths, taskId } = walk.request
  const { workspace } = ports.settings
  return sha256(canonicalJson({ hash: tool.definitionHash, agentId, taskId, allowedPaths, workspace, input, files }))
}

/** Of a tool that uses the world and does not say which files of it, nobody knows when its result is another. */
function filesOf({ touches }: Walk, { effect }: RegisteredTool, ports: Ports): string | undefined {
  return effect !== "none" && touches.list.length === 0 ? undefined : ports.fileVersions(touches)
}
