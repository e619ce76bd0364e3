import type { Alias } from "../model/dialect.ts"
import { ToolFailure } from "../model/ending.ts"
import type { AgentView } from "../model/organisation.ts"
import type { Ports } from "../model/ports.ts"
import { renamed, type Names } from "../model/renamed.ts"
import type { ToolResult } from "../model/result.ts"
import type { Walk } from "./walk.ts"

/** Who hears the result of a call, and by which name it was made. */
interface Hearer {
  readonly alias: Alias | undefined
  readonly who: AgentView | undefined
  /** The tool's own input, {} when it is kept no more. */
  readonly input: unknown
}

/** A result in the words of whoever made the call: inside, everything is kept as the tool and the house say it. */
export function inDialect(hearer: Hearer, result: ToolResult, ports: Ports): ToolResult {
  const names = namesFor(hearer, result.toolName, ports)
  if (names === undefined) return result
  const { alias, who, input } = hearer
  const isOurs = alias !== undefined || ports.tools.resolve(result.toolName, who)?.type === "builtin"
  try {
    const told = alias === undefined ? result : { ...result, metadata: { ...result.metadata, calledAs: alias.name } }
    if (!result.success) return { ...told, error: errorFor(result, alias, isOurs, names) }
    if (!isOurs) return result
    const value = withNames(result.result, names)
    return { ...told, result: alias?.toResult === undefined ? value : alias.toResult(value, input) }
  } catch (error) {
    ports.logger.error(`The result could not be told as ${alias?.name} tells it; it is told as it is.`, error)
    return result
  }
}

/** What the agent calls things by: as the called name's callers do, else as its role does; the called name stays. */
function namesFor({ alias, who }: Hearer, tool: string, ports: Ports): Names | undefined {
  if (alias !== undefined) return { ...ports.tools.spoken(alias.dialect), ...alias.names }
  const spoken = ports.tools.spoken(who?.role.dialect ?? "native")
  if (spoken === undefined) return undefined
  const { [tool]: _called, ...others } = spoken
  return others
}

function errorFor(result: ToolResult, alias: Alias | undefined, isOurs: boolean, names: Names): string {
  const { code, error = "", metadata } = result
  const isTheTools = code === "tool_failed" || metadata?.["toolCode"] !== undefined
  // What somebody else's tool says is in its own words; what is wrong with an input is in those of the called name.
  if ((isTheTools && !isOurs) || code === "invalid_arguments") return error
  const sentence = renamed(error, names)
  const toolCode = typeof metadata?.["toolCode"] === "string" ? metadata["toolCode"] : undefined
  return isTheTools && alias?.toError !== undefined ? alias.toError(sentence, toolCode) : sentence
}

/** The sentences in a result of ours: its notice, and what is said of each file in it. All else is data. */
function withNames(value: unknown, names: Names): unknown {
  const told = said(value, ["notice"], names)
  const { files } = (told ?? {}) as { files?: unknown }
  if (!Array.isArray(files)) return told
  return { ...(told as object), files: files.map((file) => said(file, ["notice", "error"], names)) }
}

function said(value: unknown, keys: readonly string[], names: Names): unknown {
  if (typeof value !== "object" || value === null) return value
  const sentences = Object.entries(value).filter(([key, each]) => keys.includes(key) && typeof each === "string")
  if (sentences.length === 0) return value
  const others = sentences.map(([key, sentence]) => [key, renamed(sentence as string, names)] as const)
  return { ...value, ...Object.fromEntries(others) }
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
