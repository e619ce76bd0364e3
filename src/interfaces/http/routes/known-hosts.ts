import type { Quartermaster } from "../../../app/quartermaster.ts"

const refreshMs = 60_000
/** How far back it looks: at this many successful calls, and at this many of them that reached a host. */
const mostCalls = 5000
const mostReaching = 500

/**
 * The hosts that successful calls have reached: what their tools say that the recorded inputs touch. Read when first
 * needed; after a minute only what came since then is read. A host that was reached long ago may count as new.
 */
export function knownHosts(app: Pick<Quartermaster, "audit" | "findTool">, now: () => number) {
  const hosts = new Set<string>()
  let readAt: number | undefined
  return async (): Promise<ReadonlySet<string>> => {
    const at = now()
    if (readAt !== undefined && at - readAt < refreshMs) return hosts
    // A call that is recorded late is not missed: a minute is read twice.
    const since = readAt === undefined ? {} : { since: readAt - refreshMs }
    readAt = at
    const rows = await app.audit.list({ status: "success", limit: mostCalls, ...since })
    const reaching = rows.filter(({ tool }) => app.findTool(tool)?.effect === "network").slice(0, mostReaching)
    const entries = await app.audit.showMany(reaching.map(({ callId }) => callId))
    for (const { callId, tool } of reaching)
      for (const entry of entries.get(callId) ?? [])
        if ("input" in entry && entry.input !== undefined)
          for (const host of hostsOf(app.findTool(tool), entry.input)) hosts.add(host)
    return hosts
  }
}

/** None where the input was cut, or the tool takes another one by now. */
function hostsOf(tool: ReturnType<Quartermaster["findTool"]>, input: string): string[] {
  try {
    const touches = tool?.touches?.(JSON.parse(input)) ?? []
    return touches.filter(({ kind }) => kind === "host").map(({ what }) => new URL(what).hostname)
  } catch {
    return []
  }
}
