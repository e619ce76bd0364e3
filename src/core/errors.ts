import { ToolExecuteStatus, type ToolResult } from "./result.ts"

/**
 * A failed call as an exception. Only `resultOrThrow` throws it; `call` returns a `ToolResult`. Tools may throw these errors
 * too. An error that takes a tool and a message also takes the message alone.
 */
export class ToolError extends Error {
  readonly toolName: string
  /** The whole result, with code and details. */
  result?: ToolResult

  constructor(toolName: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = "ToolError"
    this.toolName = toolName
  }
}

/** The arguments of the errors: the tool and a message, or only the message. */
type ToolAndMessage = [toolName: string, message: string] | [message: string]

function readArguments(given: ToolAndMessage): { toolName: string; message: string } {
  const [first, second] = given
  return second === undefined ? { toolName: "", message: first } : { toolName: first, message: second }
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
  constructor(...given: ToolAndMessage) {
    const { toolName, message } = readArguments(given)
    super(toolName, `Permission denied: ${message}`)
    this.name = "ToolPermissionError"
  }
}

/** The call was denied: by role, department, level, a rule or a rate limit. */
export class PermissionDeniedError extends ToolPermissionError {
  constructor(...given: ToolAndMessage) {
    super(...given)
    this.name = "PermissionDeniedError"
  }
}

/** A person rejected the call or withheld its result, or the approval expired. */
export class ExecutionCancelledError extends ToolError {
  constructor(...given: ToolAndMessage | []) {
    const { toolName, message } = readArguments(given.length === 0 ? ["The execution was cancelled."] : given)
    super(toolName, message)
    this.name = "ExecutionCancelledError"
  }
}

/** The path, command or host is not allowed. */
export class SecurityError extends ToolPermissionError {
  constructor(...given: ToolAndMessage) {
    super(...given)
    this.name = "SecurityError"
  }
}

/** The tool's result does not match its output schema. */
export class ValidationError extends ToolValidationError {
  constructor(...given: ToolAndMessage) {
    const { toolName, message } = readArguments(given)
    super(toolName, message)
    this.name = "ValidationError"
    this.message = message
  }
}

/** The value of a result; throws the error that fits where the call failed. */
export function resultOrThrow<T>(ended: ToolResult<T>): T {
  if (!ended.success) throw errorOf(ended)
  return ended.result
}

/** Makes the matching error of a failed result. */
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

/** The warning of `qm doctor`, approvals and reasons when shell mode `sandbox` is set but bubblewrap does not work. */
export function sandboxUnavailableSentence(because: string): string {
  return `Shell mode 'sandbox' acts as 'ask' here: ${because}.`
}
