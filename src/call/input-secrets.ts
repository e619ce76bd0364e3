import type { SecretPaths } from "../core/schema.ts"
import type { RegisteredTool } from "../core/tool.ts"
import { secretPaths } from "../schema/secret-paths.ts"
import type { ActiveCall } from "./state/active-call.ts"

const everything: SecretPaths = [[]]

/** The parts of a tool's input that no record shows. All of it, where the tool could not be asked about this input. */
export function inputSecrets(tool: RegisteredTool, asked?: SecretPaths): SecretPaths {
  const marked = secretPaths(tool.input.json)
  return tool.secretFields === undefined ? marked : [...marked, ...(asked ?? everything)]
}

/** Asks the tool which fields of this input are secret. */
export async function askSecretFields(call: ActiveCall, tool: RegisteredTool, input: unknown): Promise<void> {
  try {
    const fields = (await tool.secretFields?.(input, call)) ?? []
    call.secretFields = fields.map((field) => [field])
  } catch {
    call.secretFields = everything
  }
}
