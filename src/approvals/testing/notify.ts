import { silentLogger } from "../../core/logger.ts"
import type { PendingItem } from "../../core/approval.ts"

/** A waiting call, and the notice of it. */
export const sampleItem = {
  callId: "call-1",
  kind: "call" as const,
  agentId: "dev",
  tool: "set_env",
  until: Date.UTC(2030, 0, 2, 3, 4, 5),
  revision: 1,
  title: { code: "title_change", params: { path: "notes.md" }, text: "Change notes.md" },
  risk: { band: "high", destructive: true, tags: [] },
} satisfies Partial<PendingItem>

export const sampleNotice = { ...sampleItem, title: "Change notes.md", risk: "high" }

export function makeLogger() {
  const warnings: string[] = []
  return { warnings, logger: { ...silentLogger, warn: (text: string) => void warnings.push(text) } }
}
