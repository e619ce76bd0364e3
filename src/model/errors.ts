import { ToolExecuteStatus, type ToolResult } from "./result.ts"

/** The error classes of designs S2, S3 and S4. Only `executeOrThrow` throws them. */
export class ToolError extends Error {
  readonly toolName: string
  /** The whole result, for whoever wants more than the sentence. */
  result?: ToolResult

  constructor(toolName: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "ToolError"
    this.toolName = toolName
  }
}

export class ToolNotFoundError extends ToolError {
  readonly code = "unknown_tool"

  constructor(toolName: string) {
    super(toolName, `Tool "${toolName}" not found`)
    this.name = "ToolNotFoundError"
  }
}

export class ToolValidationError extends ToolError {
  constructor(toolName: string, validationErrors: unknown) {
    super(toolName, "Parameter validation failed", validationErrors)
    this.name = "ToolValidationError"
  }
}

export class ToolTimeoutError extends ToolError {
  constructor(toolName: string, timeout: number) {
    super(toolName, `Tool execution timed out after ${timeout}ms`)
    this.name = "ToolTimeoutError"
  }
}

export class ToolPermissionError extends ToolError {
  constructor(toolName: string, message: string) {
    super(toolName, `Permission denied: ${message}`)
    this.name = "ToolPermissionError"
  }
}

/** S2's name for a call that role, department, level or a limit refused. */
export class PermissionDeniedError extends ToolPermissionError {
  constructor(toolName: string, reason: string) {
    super(toolName, reason)
    this.name = "PermissionDeniedError"
  }
}

/** S2's name for a call a person did not agree to. */
export class ExecutionCancelledError extends ToolError {
  constructor(toolName: string, reason: string) {
    super(toolName, reason)
    this.name = "ExecutionCancelledError"
  }
}

/** S3's name for a path, command or host outside the fence. */
export class SecurityError extends ToolPermissionError {
  constructor(toolName: string, message: string) {
    super(toolName, message)
    this.name = "SecurityError"
  }
}

/** S3's name for an input or output that breaks its own rules. */
export class ValidationError extends ToolValidationError {
  constructor(toolName: string, message: string) {
    super(toolName, message)
    this.name = "ValidationError"
    this.message = message
  }
}

/** The error that says what a failed result says. */
export function errorOf(result: ToolResult): ToolError {
  const error = makeError(result)
  error.result = result
  return error
}

function makeError(result: ToolResult): ToolError {
  const { toolName, error: sentence = "The call failed." } = result
  if (result.status === ToolExecuteStatus.NOT_FOUND) return new ToolNotFoundError(toolName)
  if (result.status !== ToolExecuteStatus.ERROR) return new ExecutionCancelledError(toolName, sentence)
  switch (result.code) {
    case "invalid_arguments":
      return new ToolValidationError(toolName, result.metadata?.["problems"] ?? sentence)
    case "output_invalid":
      return new ValidationError(toolName, sentence)
    case "timeout":
      return new ToolTimeoutError(toolName, Number(result.metadata?.["timeoutMs"] ?? 0))
    case "tool_not_available":
    case "permission_denied":
    case "rate_limited":
    case "frozen":
      return new PermissionDeniedError(toolName, sentence)
    case "path_outside_workspace":
    case "command_denied":
    case "host_denied":
      return new SecurityError(toolName, sentence)
    default:
      return new ToolError(toolName, sentence)
  }
}
