import type { LimitVerdict } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"

export interface Verdict {
  verdict: "allow" | "ask" | "deny"
  /** Why, strongest first. For an ask: what an approver must agree to. */
  reasons: readonly Reason[]
  /** For a deny by a limit: when to try again. */
  retryAfterMs?: number
}

/** Everything `decide` looks at. It reads nothing else and changes nothing. */
export interface Facts {
  tool: RegisteredTool
  limit: LimitVerdict
}

const allow: Verdict = { verdict: "allow", reasons: [] }

/** Any deny denies; then the tool's level allows or asks. */
export function decide({ tool, limit }: Facts): Verdict {
  if (!limit.ok) {
    const reason = { voice: "limit", source: tool.id, sentence: limit.sentence }
    return { verdict: "deny", reasons: [reason], retryAfterMs: limit.retryAfterMs }
  }
  const sentence = asksBecause(tool)
  return sentence === undefined ? allow : { verdict: "ask", reasons: [{ voice: "level", source: tool.id, sentence }] }
}

function asksBecause({ name, permission }: RegisteredTool): string | undefined {
  const { level, requireExecutionApproval } = permission
  if (level === "sensitive") return `Tool ${name} is sensitive: a person agrees to every call.`
  if (requireExecutionApproval === true) return `Tool ${name} asks for approval before it runs.`
  if (level === "moderate" && requireExecutionApproval !== false)
    return `Tool ${name} is moderate: a person agrees first.`
  return undefined
}
