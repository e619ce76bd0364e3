import type { McpServerSpec } from "../model/mcp.ts"
import type { Config } from "./schema.ts"

/** The servers of the configuration in one shape, whichever of the ways they are written. */
export function serverSpecs(_config: Config): McpServerSpec[] {
  return []
}
