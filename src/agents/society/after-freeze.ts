import type { Reflector } from "../reflection/reflector.ts"
import { ruleReflector } from "../reflection/rules.ts"

/** Calls that a freeze stopped may be made again once it is over. */
export const afterFreeze: Reflector = {
  reflect(input) {
    const failures = input.failures.filter(({ code }) => code !== "frozen")
    if (failures.length > 0) return ruleReflector.reflect({ ...input, failures })
    const assessment = "The agent was frozen for a while; its calls were stopped."
    return { verdict: "continue", assessment, lessons: [] }
  },
}
