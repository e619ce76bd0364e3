import { describe, expect, it } from "vitest"
import {
  errorOf,
  ExecutionCancelledError,
  PermissionDeniedError,
  SecurityError,
  ToolError,
  ToolNotFoundError,
  ToolPermissionError,
  ToolTimeoutError,
  ToolValidationError,
  ValidationError,
} from "./errors.ts"
import {
  endings,
  exitCode,
  failedWith,
  isTicket,
  ToolExecuteStatus,
  type EndingCode,
  type ToolResult,
} from "./result.ts"

const ids = { callId: "c", toolName: "run_command", version: "1.0.0", startedAt: 0 }
const ended = (code: EndingCode, rest: object = {}) => Object.assign(failedWith(code, "It is not allowed.", ids), rest)

describe("an error", () => {
  it("ToolError has its tool, its message, its cause and its name", () => {
    const cause = new Error("below")
    const error = new ToolError("sleep", "It failed.", cause)
    expect(error).toBeInstanceOf(Error)
    expect(error).toMatchObject({ toolName: "sleep", message: "It failed.", name: "ToolError", cause })
    expect("cause" in new ToolError("sleep", "It failed.")).toBe(false)
  })

  it("ToolNotFoundError", () => {
    const error = new ToolNotFoundError("sleep")
    expect(error).toMatchObject({ name: "ToolNotFoundError", message: 'Tool "sleep" not found', code: "unknown_tool" })
  })

  it("ToolValidationError has the problems as its cause", () => {
    const problems = ["one", "two"]
    const error = new ToolValidationError("sleep", problems)
    expect(error).toMatchObject({
      name: "ToolValidationError",
      message: "Parameter validation failed",
      cause: problems,
    })
  })

  it("ToolTimeoutError", () => {
    const error = new ToolTimeoutError("sleep", 30_000)
    expect(error).toMatchObject({ name: "ToolTimeoutError", message: "Tool execution timed out after 30000ms" })
  })

  it("ToolPermissionError", () => {
    const error = new ToolPermissionError("sleep", "Access denied")
    expect(error).toMatchObject({ name: "ToolPermissionError", message: "Permission denied: Access denied" })
  })

  it("SecurityError and ValidationError exist, and are what S4 calls them too", () => {
    const security = new SecurityError("file_read", "Path is outside workspace directory")
    expect(security).toBeInstanceOf(ToolPermissionError)
    expect(security.name).toBe("SecurityError")
    expect(security.message).toContain("Path is outside workspace directory")
    const validation = new ValidationError("file_read", "File size (2) exceeds limit (1)")
    expect(validation).toBeInstanceOf(ToolValidationError)
    expect(validation).toMatchObject({ name: "ValidationError", message: "File size (2) exceeds limit (1)" })
  })

  it.each([
    [
      new SecurityError("Path is outside workspace directory"),
      "Permission denied: Path is outside workspace directory",
    ],
    [
      new PermissionDeniedError("Role tester not in allowed roles"),
      "Permission denied: Role tester not in allowed roles",
    ],
    [new ToolPermissionError("Access denied"), "Permission denied: Access denied"],
    [new ExecutionCancelledError("A person said no."), "A person said no."],
    [new ExecutionCancelledError(), "The execution was cancelled."],
    [new ValidationError("File size (2) exceeds limit (1)"), "File size (2) exceeds limit (1)"],
  ])("with one argument, as the designs throw it, has that message: %s", (error, message) => {
    expect(error).toMatchObject({ message, toolName: "" })
  })

  it("of every class is a ToolError and names its tool", () => {
    const errors = [
      new ToolNotFoundError("t"),
      new ToolValidationError("t", []),
      new ToolTimeoutError("t", 1),
      new PermissionDeniedError("t", "r"),
      new ExecutionCancelledError("t", "r"),
      new SecurityError("t", "r"),
      new ValidationError("t", "r"),
    ]
    for (const error of errors) {
      expect(error).toBeInstanceOf(ToolError)
      expect(error.toolName).toBe("t")
      expect(error.name).toBe(error.constructor.name)
    }
  })
})

describe("the error of a result", () => {
  const classes: Record<EndingCode, string> = {
    unknown_tool: "ToolNotFoundError",
    invalid_arguments: "ToolValidationError",
    output_invalid: "ValidationError",
    timeout: "ToolTimeoutError",
    tool_not_available: "PermissionDeniedError",
    permission_denied: "PermissionDeniedError",
    rate_limited: "PermissionDeniedError",
    frozen: "PermissionDeniedError",
    path_outside_workspace: "SecurityError",
    command_denied: "SecurityError",
    host_denied: "SecurityError",
    approval_rejected: "ExecutionCancelledError",
    approval_expired: "ExecutionCancelledError",
    result_withheld: "ExecutionCancelledError",
    key_conflict: "ToolError",
    aborted: "ToolError",
    tool_failed: "ToolError",
    interrupted: "ToolError",
    unknown_outcome: "ToolError",
    record_unavailable: "ToolError",
    upstream_unavailable: "ToolError",
  }

  it.each(Object.entries(classes) as [EndingCode, string][])("of %s is a %s", (code, name) => {
    const result = ended(code)
    const error = errorOf(result)
    expect(error.name).toBe(name)
    expect(error.toolName).toBe("run_command")
    expect(error.result).toBe(result)
  })

  it("every code has one of S1's five statuses, and S0's codes are among them", () => {
    expect(Object.keys(classes).toSorted()).toEqual(Object.keys(endings).toSorted())
    const statuses = Object.values(endings).map(({ status }) => status)
    expect(statuses.every((status) => Object.values(ToolExecuteStatus).includes(status))).toBe(true)
    expect(endings.tool_not_available.status).toBe("error")
    expect(endings.unknown_tool.status).toBe("not_found")
  })

  it("of a tool that is not there says so", () => {
    expect(errorOf(ended("unknown_tool"))).toBeInstanceOf(ToolNotFoundError)
    expect(errorOf(ended("unknown_tool")).message).toBe('Tool "run_command" not found')
  })

  it("of a refused call is PermissionDeniedError with its reason", () => {
    const reason = "Role tester not in allowed roles"
    const error = errorOf(ended("permission_denied", { error: reason }))
    expect(error).toBeInstanceOf(PermissionDeniedError)
    expect(error).toBeInstanceOf(ToolPermissionError)
    expect(error.message).toBe(`Permission denied: ${reason}`)
  })

  it("of a call that nobody confirmed is ExecutionCancelledError", () => {
    const error = errorOf(ended("approval_rejected", { error: "Not now." }))
    expect(error).toBeInstanceOf(ExecutionCancelledError)
    expect(error.message).toBe("Not now.")
  })

  it("of a wrong input lists every problem, and has the sentence when there is no list", () => {
    const problems = ["Missing required parameter: a", "Missing required parameter: b"]
    expect(errorOf(ended("invalid_arguments", { metadata: { problems } })).cause).toEqual(problems)
    expect(errorOf(ended("invalid_arguments")).cause).toBe("It is not allowed.")
  })

  it("of a call that took too long says how long", () => {
    const error = errorOf(ended("timeout", { metadata: { timeoutMs: 250 } }))
    expect(error.message).toBe("Tool execution timed out after 250ms")
  })

  it("that says nothing still says something", () => {
    const { error: _, ...silent } = ended("tool_failed")
    expect(errorOf(silent as ToolResult).message).toBe("The call failed.")
  })
})

describe("a status", () => {
  it.each([
    ["SUCCESS", "success"],
    ["ERROR", "error"],
    ["EXECUTION_REJECTED", "execution_rejected"],
    ["RESULT_REJECTED", "result_rejected"],
    ["NOT_FOUND", "not_found"],
  ] as const)("%s is '%s'", (key, value) => {
    expect(ToolExecuteStatus[key]).toBe(value)
  })

  it("result_rejected keeps the result for the caller, out of the sentence", () => {
    const withheld = ended("result_withheld", { result: "secret" })
    expect(withheld.status).toBe(ToolExecuteStatus.RESULT_REJECTED)
    expect(errorOf(withheld).result?.result).toBe("secret")
    expect(errorOf(withheld).message).not.toContain("secret")
  })

  it("there are five", () => {
    expect(Object.keys(ToolExecuteStatus)).toHaveLength(5)
  })
})

describe("an ended call", () => {
  it("has an exit code: 0, 1 for a failure, 3 for a refusal, 4 for a person's no", () => {
    expect(exitCode({ ...ids, status: "success", success: true, result: 1 })).toBe(0)
    expect(exitCode(ended("tool_failed"))).toBe(1)
    expect(exitCode(ended("permission_denied"))).toBe(3)
    expect(exitCode(ended("approval_expired"))).toBe(4)
  })

  it("is never mistaken for one that waits", () => {
    expect(isTicket(ended("timeout"))).toBe(false)
    expect(isTicket({ callId: "c", state: "waiting", until: 1 })).toBe(true)
  })
})
