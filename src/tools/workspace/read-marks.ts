import type { FileFacts, MarkLog, ReadMark } from "../../model/files.ts"

/** Which version of a file each agent has seen last; of no more than so many. */
export interface ReadMarks {
  /** This agent knows the file as it is now: it has read or written it. */
  see(agentId: string, facts: FileFacts): void
  /** Whether the agent has seen the file, and another version of it. Asked before a change; what other processes know counts too. */
  isStale(agentId: string, facts: FileFacts): boolean
}

/** In memory; a log makes them last longer than the process. */
export function readMarks(log?: MarkLog, most = 10_000): ReadMarks {
  const seen = new Map<string, Pick<ReadMark, "version" | "at">>()

  function keep(key: string, version: string, at: number): void {
    // Last in the order is what was seen anew last; the first goes.
    seen.delete(key)
    seen.set(key, { version, at })
    if (seen.size > most) for (const oldest of seen.keys()) return void seen.delete(oldest)
  }

  return {
    see(agentId, { real, version }) {
      const key = keyOf(agentId, real)
      if (seen.get(key)?.version === version) return
      const at = Date.now()
      keep(key, version, at)
      log?.add({ agentId, real, version, at })
    },
    isStale(agentId, { real, version }) {
      for (const mark of log?.news() ?? []) {
        const key = keyOf(mark.agentId, mark.real)
        if (mark.at >= (seen.get(key)?.at ?? 0)) keep(key, mark.version, mark.at)
      }
      const known = seen.get(keyOf(agentId, real))
      return known !== undefined && known.version !== version
    },
  }
}

function keyOf(agentId: string, real: string): string {
  return `${agentId}\0${real}`
}
