import type { ToolInfo } from "../../../src/interfaces/http/routes/tool-schemas.ts"

/** The address of a tool: of several with one name also its version and layer. */
export interface ToolAddress {
  readonly tool?: string
  readonly version?: string
  readonly layer?: string
}

/** The tool of an address. A name alone means the newest of the layer `system`, as for agents. */
export function toolAt(tools: readonly ToolInfo[], { tool, version, layer }: ToolAddress): ToolInfo | undefined {
  const [first] = tools
    .filter(
      (each) =>
        each.name === tool &&
        (version === undefined || each.version === version) &&
        (layer === undefined || each.layer === layer),
    )
    .toSorted(
      (one, other) =>
        Number(other.layer === "system") - Number(one.layer === "system") ||
        other.version.localeCompare(one.version, "en", { numeric: true }),
    )
  return first
}

export function addressOf({ name, version, layer }: ToolInfo, tools: readonly ToolInfo[]): ToolAddress {
  const others = tools.filter((other) => other.name === name)
  return {
    tool: name,
    ...(others.some((other) => other.version !== version) ? { version } : {}),
    ...(others.some((other) => other.layer !== layer) ? { layer } : {}),
  }
}

/** The name to call it by: with its version where there are several. The layer is the agent's. */
export function callName(tool: ToolInfo, tools: readonly ToolInfo[]): string {
  const { tool: name = tool.name, version } = addressOf(tool, tools)
  return version === undefined ? name : `${name}@${version}`
}
