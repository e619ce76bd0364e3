import {
  ExecutionCancelledError as CoreCancelled,
  errorOf,
  PermissionDeniedError as CoreDenied,
} from "../../core/errors.ts"
import { endings, type ToolResult } from "../../core/result.ts"

export { ToolNotFoundError } from "../../core/errors.ts"

/** The call was denied. The message is the reason alone. */
export class PermissionDeniedError extends CoreDenied {
  constructor(reason: string) {
    super(reason)
    this.message = reason
  }
}

/** A person did not confirm the call. */
export class ExecutionCancelledError extends CoreCancelled {
  constructor(message = "Execution cancelled") {
    super(message)
  }
}

/** The error of S2 for a call that did not succeed. `reason` is what the check said that denied it. */
export function executionError(ended: ToolResult, reason: string | undefined): Error {
  if (ended.code !== undefined && endings[ended.code].exit === deniedExit)
    return Object.assign(new PermissionDeniedError(reason ?? ended.error), { result: ended })
  if (ended.status === "execution_rejected") return Object.assign(new ExecutionCancelledError(), { result: ended })
  return errorOf(ended)
}

/** The exit code of all calls that were denied. */
const deniedExit = 3
