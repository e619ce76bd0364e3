import { failure } from "../../core/ending.ts"
import { OrganisationError, type ChangedBy } from "../../org/organisation-admin.ts"
import type { ToolContext } from "../../core/tool.ts"

/** Turns an `OrganisationError` into a failure of the tool, with the same sentence and code. */
export async function asToolFailure<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OrganisationError)) throw error
    throw failure(error.message, { toolCode: error.code, metadata: { ...error.details }, cause: error })
  }
}

/** The calling agent. The organisation looks up its role and rights itself. */
export function agentActor({ agent }: ToolContext): ChangedBy {
  return { kind: "agent", id: agent.id }
}
