import type { Quartermaster } from "../../../app/quartermaster.ts"

/** Numbers in the text format of Prometheus. */
export async function metrics(app: Pick<Quartermaster, "audit" | "approvals" | "registry" | "mcp">): Promise<string> {
  const { byEnding, byTool } = await app.audit.stats()
  const pending = await app.approvals.count()
  const kinds = ["call", "result", "question"] as const
  return [
    ...metric("quartermaster_calls_total", "counter", "Ended calls in the audit log, by ending.",
      Object.entries(byEnding).map(([ending, count]) => [{ ending }, count])),
    ...metric("quartermaster_tool_calls_total", "counter", "Ended calls by tool.",
      Object.entries(byTool).map(([tool, { count }]) => [{ tool }, count])),
    ...metric("quartermaster_tool_failures_total", "counter", "Ended calls by tool that did not succeed.",
      Object.entries(byTool).map(([tool, { failures }]) => [{ tool }, failures])),
    ...metric("quartermaster_waiting", "gauge", "What waits for a person, by kind.",
      kinds.map((kind) => [{ kind }, pending[kind]])),
    ...metric("quartermaster_mcp_servers", "gauge", "MCP servers by state.",
      Object.entries(countBy(app.mcp.list().map(({ state }) => state))).map(([state, count]) => [{ state }, count])),
    ...metric("quartermaster_process_resident_bytes", "gauge", "Memory of this process.", [[{}, process.memoryUsage.rss()]]),
    "",
  ].join("\n")
} // prettier-ignore

function metric(
  name: string,
  type: "counter" | "gauge",
  help: string,
  values: readonly (readonly [Record<string, string>, number])[],
): string[] {
  return [
    `# HELP ${name} ${help}`,
    `# TYPE ${name} ${type}`,
    ...values.map(([labels, value]) => `${name}${labelText(labels)} ${value}`),
  ]
}

function labelText(labels: Record<string, string>): string {
  const entries = Object.entries(labels)
  if (entries.length === 0) return ""
  return `{${entries.map(([key, value]) => `${key}="${value.replaceAll(/[\\"\n]/g, (each) => (each === "\n" ? "\\n" : `\\${each}`))}"`).join(",")}}`
}

function countBy(values: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const value of values) counts[value] = (counts[value] ?? 0) + 1
  return counts
}
