import { failure } from "../../model/ending.ts"
import { OrganisationError, type Actor } from "../../model/organisation-book.ts"
import type { ToolContext } from "../../model/tool.ts"

/** Does the work; a change the organisation refuses is the tool's failure, with the same sentence and code. */
export async function asToolFailure<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof OrganisationError)) throw error
    throw failure(error.message, { toolCode: error.code, metadata: { ...error.details }, cause: error })
  }
}

/** The agent that calls. Its role and rights are looked up by the organisation, never taken from here. */
export function callerOf({ agent }: ToolContext): Actor {
  return { kind: "agent", id: agent.id }
}
