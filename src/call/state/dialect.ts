import type { Alias } from "../../registry/dialects/dialect.ts"
import { ToolFailure } from "../../core/ending.ts"
import type { AgentView } from "../../core/organisation.ts"
import type { Ports } from "./ports.ts"
import { inNativeNames, type ToolResult } from "../../core/result.ts"
import { renderDialectText, type DialectNames } from "../../core/dialect-text.ts"
import type { ActiveCall } from "./active-call.ts"

/** The agent that gets the result, and the alias it called the tool by. */
interface Receiver {
  readonly alias: Alias | undefined
  readonly who: AgentView | undefined
  /** The tool's own input; {} once it was erased. */
  readonly input: unknown
}

/** Translates a result into the dialect of the agent that made the call. Inside, everything uses the tools' own names. */
export function inDialect(receiver: Receiver, result: ToolResult, ports: Ports): ToolResult {
  const { alias, input } = receiver
  const plain = inNativeNames(result)
  if (result.said !== undefined)
    plain.error = renderDialectText(result.said, namesFor(receiver, result.toolName, ports))
  if (alias === undefined) return plain
  const metadata = { ...plain.metadata, calledAs: alias.name }
  try {
    if (!plain.success) return { ...plain, metadata, error: errorFor(plain, alias) }
    const value = alias.toResult === undefined ? plain.result : alias.toResult(plain.result, input)
    return { ...plain, metadata, result: value }
  } catch (error) {
    ports.logger.error(
      `The result could not be translated for ${alias.name}, so it is returned in the format of the tool.`,
      error,
    )
    return plain
  }
}

/** The names to use: the alias's dialect, else that of the agent's role; the tools' own if the agent called the tool by its own name. */
function namesFor({ alias, who }: Receiver, tool: string, ports: Ports): DialectNames | undefined {
  const names = ports.tools.dialectNames(alias?.dialect ?? who?.role.dialect ?? "native")
  return alias === undefined && names?.has(tool) === true ? undefined : names
}

/** The alias words the tool's own failures and refused paths; all other errors stay as they are. */
function errorFor({ code, error = "", metadata }: ToolResult, { toError }: Alias): string {
  const toolCode = typeof metadata?.["toolCode"] === "string" ? metadata["toolCode"] : undefined
  const isToolFailure = code === "tool_failed" || code === "path_outside_workspace" || toolCode !== undefined
  return isToolFailure && toError !== undefined ? toError(error, toolCode) : error
}

/** Translates the input of an alias into the tool's own and puts it into the request. Returns the problems, if any. */
export function toNativeInput(call: ActiveCall, alias: Alias, input: unknown): readonly string[] {
  const checked = alias.input.check(input)
  if (!checked.ok) return checked.problems
  try {
    call.request = { ...call.request, input: alias.toInput(checked.value) }
    return []
  } catch (error) {
    if (error instanceof ToolFailure) return [error.message]
    throw error
  }
}
