import type { FileFacts, ReadMarkLog, ReadMark } from "../../platform/files/file-access.ts"

/** The version of a file that each agent has last read or written. */
export interface ReadMarks {
  /** Records that the agent has read or written this version. */
  markRead(agentId: string, facts: FileFacts): void
  /**
   * Reports whether the agent knows an older version of the file. Called before a change; includes marks of other
   * processes.
   */
  isStale(agentId: string, facts: FileFacts): boolean
}

/** Kept in memory, at most `limit` of them; a log shares them with other processes. */
export function readMarks(log?: ReadMarkLog, limit = 10_000): ReadMarks {
  const marks = new Map<string, Pick<ReadMark, "version" | "at">>()

  function store(key: string, version: string, at: number): void {
    // The map is in order of last use, so the first entry is the oldest.
    marks.delete(key)
    marks.set(key, { version, at })
    if (marks.size > limit) for (const oldest of marks.keys()) return void marks.delete(oldest)
  }

  return {
    markRead(agentId, { real, version }) {
      const key = keyOf(agentId, real)
      if (marks.get(key)?.version === version) return
      const at = Date.now()
      store(key, version, at)
      log?.add({ agentId, real, version, at })
    },
    isStale(agentId, { real, version }) {
      for (const mark of log?.readNew() ?? []) {
        const key = keyOf(mark.agentId, mark.real)
        if (mark.at >= (marks.get(key)?.at ?? 0)) store(key, mark.version, mark.at)
      }
      const known = marks.get(keyOf(agentId, real))
      return known !== undefined && known.version !== version
    },
  }
}

function keyOf(agentId: string, real: string): string {
  return `${agentId}\0${real}`
}
