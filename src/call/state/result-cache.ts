import { canonicalJson, sha256 } from "../../lib/canonical-json.ts"
import type { Ports, ResultCache } from "./ports.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import type { ActiveCall } from "./active-call.ts"

const mostEntries = 1000
const mostCharacters = 32 * 1024 * 1024

/** The results that were used last, as many as fit. They are stored as text, so that callers cannot change them. */
export class LruResultCache implements ResultCache {
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
 * Returns the cached result of the same tool, agent, workspace and input, if no touched file has changed or the tool's time
 * to live is not over; else executes the tool. Cached or not, the call takes every step.
 */
export async function fromCache(
  call: ActiveCall,
  tool: RegisteredTool,
  input: unknown,
  ports: Ports,
  execute: () => Promise<unknown>,
): Promise<unknown> {
  const { cache } = tool
  const key = cache === undefined || cache === false ? undefined : keyOf(call, tool, input, ports)
  if (cache === undefined || key === undefined) return execute()
  const at = ports.now()
  const cached = ports.cache.get(key, at)
  if (cached !== undefined) {
    call.resultNotes = { ...call.resultNotes, cached: true }
    const ids = { callId: call.callId, at, agentId: call.request.agentId, tool: tool.name }
    await ports.recorder.write({ kind: "note", ...ids, text: "Answered from the cache." }, ports.settings.durability)
    return cached.value
  }
  const value = await execute()
  // If a file changed while the tool ran, the value may be of before or after: it is not cached.
  if (keyOf(call, tool, input, ports) === key) {
    ports.cache.set(key, value, typeof cache === "object" ? at + cache.ttlMs : Infinity)
  }
  return value
}

function keyOf(call: ActiveCall, tool: RegisteredTool, input: unknown, ports: Ports): string | undefined {
  const files = typeof tool.cache === "object" ? "" : filesOf(call, tool, ports)
  if (files === undefined) return undefined
  const { agentId, allowedPaths, taskId } = call.request
  const { workspace } = ports.settings
  return sha256(canonicalJson({ hash: tool.definitionHash, agentId, taskId, allowedPaths, workspace, input, files }))
}

/** The versions of the touched files; undefined if the tool has an effect but names no files, so that it is not cached. */
function filesOf({ touches }: ActiveCall, { effect }: RegisteredTool, ports: Ports): string | undefined {
  return effect !== "none" && touches.list.length === 0 ? undefined : ports.fileVersions(touches)
}
