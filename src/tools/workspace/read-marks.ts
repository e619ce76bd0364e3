import type { FileFacts } from "../../model/files.ts"

/** Which version of a file each agent has seen last. In memory, and no more than so many. */
export interface ReadMarks {
  /** This agent knows the file as it is now: it has read or written it. */
  see(agentId: string, facts: FileFacts): void
  /** Whether the agent has seen the file, and another version of it. */
  isStale(agentId: string, facts: FileFacts): boolean
}

export function readMarks(most = 10_000): ReadMarks {
  const seen = new Map<string, string>()
  const keyOf = (agentId: string, { real }: FileFacts) => `${agentId}\0${real}`
  return {
    see(agentId, facts) {
      const key = keyOf(agentId, facts)
      if (seen.get(key) === facts.version) return
      // Last in the order is what was seen anew last; the first goes.
      seen.delete(key)
      seen.set(key, facts.version)
      if (seen.size > most) for (const oldest of seen.keys()) return void seen.delete(oldest)
    },
    isStale(agentId, facts) {
      const version = seen.get(keyOf(agentId, facts))
      return version !== undefined && version !== facts.version
    },
  }
}
