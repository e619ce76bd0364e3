import { isObject } from "../../lib/is-object.ts"
import { json, optionalText, textOf, type Fields, type HookClient, type HookedCall } from "./hook-client.ts"

/** Gemini CLI. */
export const geminiHooks: HookClient = {
  takesInput: true,
  read(payload, given) {
    const event = optionalText(payload, "hook_event_name") ?? given
    switch (event) {
      case "BeforeTool":
        return { kind: "before", call: callOf(payload), isAttended: false }
      case "AfterTool": {
        const response = payload["tool_response"]
        const error = isObject(response) ? response["error"] : undefined
        const failed = isObject(error) ? optionalText(error, "message") : undefined
        return { kind: "after", call: callOf(payload), outcome: failed ? { failed } : { value: response ?? null } }
      }
      case "SessionEnd":
        return { kind: "session-end", sessionId: textOf(payload, "session_id") }
      case undefined:
        throw new Error("It has no hook_event_name.")
      default:
        return { kind: "other" }
    }
  },
  allow: (change) =>
    change === undefined
      ? json({ decision: "allow" })
      : json({ decision: "allow", hookSpecificOutput: { hookEventName: "BeforeTool", tool_input: change.input } }),
  deny: (reason) => json({ decision: "deny", reason }),
  replace: (_, text) => json({ decision: "deny", reason: text }),
}

function callOf(payload: Fields): HookedCall {
  const server = payload["mcp_context"]
  return {
    tool: isObject(server) ? mcpTool(server, payload) : textOf(payload, "tool_name"),
    input: payload["tool_input"] ?? {},
    id: optionalText(payload, "tool_use_id", "tool_call_id"),
    sessionId: textOf(payload, "session_id"),
    cwd: optionalText(payload, "cwd"),
  }
}

function mcpTool(server: Fields, payload: Fields): string {
  const [name, tool] = [optionalText(server, "server_name"), optionalText(server, "tool_name")]
  return name === undefined || tool === undefined ? textOf(payload, "tool_name") : `mcp__${name}__${tool}`
}
