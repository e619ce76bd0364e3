import type { Reason } from "../../core/reason.ts"
import { dialectText, toolRef, type DialectText } from "../../core/dialect-text.ts"
import type { Language } from "../../core/language.ts"

/** The refusal of a tool that the agent may not know of. The Chinese sentence is S0's, word for word. */
export function notAvailable(tool: string, { check, sentence }: Reason, language: Language): DialectText {
  if (language === "zh") return ["工具 ", toolRef(tool), " 对此岗位不可用"]
  const what = check === "rule" ? "not available" : "not available to this role"
  return dialectText`Tool ${toolRef(tool)} is ${what}: ${sentence}`
}
