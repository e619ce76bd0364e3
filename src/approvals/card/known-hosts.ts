import type { AuditReader } from "../../audit/audit-reader.ts"
import type { RegisteredTool } from "../../core/tool.ts"

/** Records may be written this late. */
const lateMs = 60_000
/** The most successful calls, and calls that reached a host, that are looked at. */
const mostCalls = 5000
const mostReaching = 500

type FindTool = (name: string) => RegisteredTool | undefined

/**
 * Returns a function that finds the hosts which successful calls have reached: what their tools say that the recorded
 * inputs touch. It reads what came since the last time. A host that was reached long ago may count as new.
 */
export function knownHosts(audit: Pick<AuditReader, "list" | "showMany">, findTool: FindTool, now: () => number) {
  const hosts = new Set<string>()
  let readAt: number | undefined
  return async (): Promise<ReadonlySet<string>> => {
    const since = readAt === undefined ? {} : { since: readAt - lateMs }
    readAt = now()
    const rows = await audit.list({ status: "success", limit: mostCalls, ...since })
    const reaching = rows.filter(({ tool }) => findTool(tool)?.effect === "network").slice(0, mostReaching)
    const entries = await audit.showMany(reaching.map(({ callId }) => callId))
    for (const { callId, tool } of reaching)
      for (const entry of entries.get(callId) ?? [])
        if ("input" in entry && entry.input !== undefined)
          for (const host of hostsOf(findTool(tool), entry.input)) hosts.add(host)
    return hosts
  }
}

/** None where the input was cut, or the tool takes another one by now. */
function hostsOf(tool: RegisteredTool | undefined, input: string): string[] {
  try {
    const touches = tool?.touches?.(JSON.parse(input)) ?? []
    return touches.filter(({ kind }) => kind === "host").map(({ what }) => new URL(what).hostname)
  } catch {
    return []
  }
}
