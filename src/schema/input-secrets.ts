import type { SecretPaths } from "../core/schema.ts"
import type { RegisteredTool } from "../core/tool.ts"
import { secretPaths } from "./secret-paths.ts"

export const everything: SecretPaths = [[]]

/** The parts of a tool's input that no record shows. All of it, where the tool could not be asked about this input. */
export function inputSecrets(tool: RegisteredTool, asked?: SecretPaths): SecretPaths {
  const marked = secretPaths(tool.input.json)
  return tool.secretFields === undefined ? marked : [...marked, ...(asked ?? everything)]
}
