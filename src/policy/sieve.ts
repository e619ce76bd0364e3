import type { Facts } from "../model/ports.ts"
import { holds } from "./conditions.ts"
import type { RuleBook } from "./rules.ts"

/**
 * What a call that looks through a folder may come across: not what a rule denies or asks about when it is named. Undefined
 * when no rule about this agent and tool looks at files.
 */
export function sieve(
  { who, tool, input, workspace }: Pick<Facts, "who" | "tool" | "input" | "workspace">,
  book: RuleBook,
): ((path: string) => boolean) | undefined {
  const rules = book.select(tool, who).rules.filter(({ rule, touching }) => {
    const tightens = rule.verdict !== "allow" && rule.shadow !== true && rule.release === undefined
    return tightens && touching?.some(({ kinds }) => kinds.includes("read"))
  })
  if (rules.length === 0) return undefined
  return (path) => {
    const call = { input, workspace, touches: { list: [{ kind: "read" as const, what: path }], proved: true } }
    return !rules.some((rule) => holds(rule, call))
  }
}
