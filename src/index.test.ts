import { expect, test } from "vitest"
import * as surface from "./index.ts"

test("the public surface is exactly this list", () => {
  expect(Object.keys(surface).sort()).toEqual([
    "BaseTool",
    "ExecutionCancelledError",
    "PermissionDeniedError",
    "SecurityError",
    "ToolCategory",
    "ToolDiscovery",
    "ToolError",
    "ToolExecuteStatus",
    "ToolExecutor",
    "ToolGroupManager",
    "ToolNotFoundError",
    "ToolPermissionError",
    "ToolPermissionLevel",
    "ToolRegistry",
    "ToolTimeoutError",
    "ToolValidationError",
    "ValidationError",
    "callbackAdapter",
    "createQuartermaster",
    "defineTool",
    "exitCode",
    "failure",
    "fromBaseTool",
    "fromDefinition",
    "fromFunction",
    "fromHandler",
    "fromModule",
    "fromResultTool",
    "isTicket",
    "modelText",
    "terminalAdapter",
    "terminalAsk",
  ])
})
