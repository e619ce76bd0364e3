import type { Alias } from "../model/dialect.ts"
import { ToolFailure } from "../model/ending.ts"
import type { Ports } from "../model/ports.ts"
import type { ToolResult } from "../model/result.ts"
import type { Walk } from "./walk.ts"

/** A result by the name it was called by: inside everything is kept as the tool itself says it. */
export function inDialect(alias: Alias | undefined, result: ToolResult, input: unknown, ports: Ports): ToolResult {
  if (alias === undefined) return result
  const calledAs = { ...result, metadata: { ...result.metadata, calledAs: alias.name } }
  try {
    if (result.success) {
      return alias.toResult === undefined ? calledAs : { ...calledAs, result: alias.toResult(result.result, input) }
    }
    const isTheTools = result.code === "tool_failed" || result.metadata?.["toolCode"] !== undefined
    if (!isTheTools || alias.toError === undefined) return calledAs
    const toolCode = result.metadata?.["toolCode"]
    const said = typeof toolCode === "string" ? toolCode : undefined
    return { ...calledAs, error: alias.toError(result.error ?? "", said) }
  } catch (error) {
    ports.logger.error(`The result could not be told as ${alias.name} tells it; it is told as it is.`, error)
    return result
  }
}

/** The tool's own input for a call by another name: from here on the call is one of the tool. */
export function toNative(walk: Walk, alias: Alias, given: unknown): readonly string[] {
  const checked = alias.input.check(given)
  if (!checked.ok) return checked.problems
  try {
    walk.request = { ...walk.request, input: alias.toInput(checked.value) }
    return []
  } catch (error) {
    if (error instanceof ToolFailure) return [error.message]
    throw error
  }
}
