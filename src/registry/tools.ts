import type { AgentView } from "../core/organisation.ts"
import type { RegisteredTool } from "../core/tool.ts"
import type { Alias } from "./dialects/dialect.ts"
import type { DialectNames } from "../core/dialect-text.ts"

/** The registry, as the steps of a call use it. */
export interface Tools {
  /** The tool with this name: from the agent's own layer first, then its department's, then the system's. */
  resolve(name: string, who: AgentView | undefined): RegisteredTool | undefined
  /** The alias with this name, from the dialect of the agent's role first. */
  alias(name: string, who: AgentView | undefined): Alias | undefined
  /** The names of tools and parameters in a dialect. Undefined when it has none of its own. */
  dialectNames(dialect: string): DialectNames | undefined
  /** All names, for "Did you mean …?". */
  names(): Iterable<string>
  /** The names of tools that an agent with these groups may be able to see. */
  namesIn(groups: readonly string[] | null, who: AgentView): Iterable<string>
  /** Grows with every change of the registry. */
  readonly version: number
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean
  count(tool: RegisteredTool, durationMs: number, error: string | undefined): void
}
