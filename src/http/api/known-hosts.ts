import type { ServedApp } from "./endpoint.ts"

const refreshMs = 60_000
const mostCalls = 200

/** The hosts that successful calls have reached, from the audit log. Read when first needed, and again after a minute. */
export function knownHosts(app: Pick<ServedApp, "audit" | "registry">, now: () => number) {
  const hosts = new Set<string>()
  const seen = new Set<string>()
  let readAt = -Infinity
  return async (): Promise<ReadonlySet<string>> => {
    if (now() - readAt < refreshMs) return hosts
    readAt = now()
    for (const { name, effect } of app.registry.list()) {
      if (effect !== "network") continue
      for (const { callId } of await app.audit.list({ tool: name, status: "success", limit: mostCalls })) {
        if (seen.has(callId)) continue
        seen.add(callId)
        for (const entry of await app.audit.show(callId))
          if (entry.kind === "end" && entry.input !== undefined) addHosts(entry.input, hosts)
      }
    }
    return hosts
  }
}

/** The hosts of the addresses in an input, as the audit log has it. */
function addHosts(input: string, hosts: Set<string>): void {
  for (const [, address] of input.matchAll(/"(https?:\/\/[^"\\]+)/g)) {
    try {
      hosts.add(new URL(address!).hostname)
    } catch {
      // It only looks like an address.
    }
  }
}
