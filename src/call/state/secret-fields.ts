import type { RegisteredTool } from "../../core/tool.ts"
import type { ActiveCall } from "./active-call.ts"
import { everything } from "../../schema/input-secrets.ts"

/** Asks the tool which fields of this input are secret. */
export async function askSecretFields(call: ActiveCall, tool: RegisteredTool, input: unknown): Promise<void> {
  try {
    const fields = (await tool.secretFields?.(input, call)) ?? []
    call.secretFields = fields.map((field) => [field])
  } catch {
    call.secretFields = everything
  }
}
