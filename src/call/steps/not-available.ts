import { dialectText, toolRef, type DialectText } from "../../model/dialect-text.ts"
import type { Language } from "../../model/language.ts"

/** The refusal of a tool that the agent may not know of. The Chinese sentence is S0's, word for word. */
export function notAvailable(tool: string, because: string, language: Language): DialectText {
  return language === "zh"
    ? ["工具 ", toolRef(tool), " 对此岗位不可用"]
    : dialectText`Tool ${toolRef(tool)} is not available to this role: ${because}`
}
