import { isObject } from "../../lib/is-object.ts"
import { inputOf, json, optionalText, textOf, type HookClient } from "./hook-client.ts"

/** Copilot CLI. Its payload does not say which event it is: the installed command does. */
export const copilotHooks: HookClient = {
  takesInput: false,
  read(payload, event) {
    const call = () => ({
      tool: textOf(payload, "toolName"),
      input: inputOf(payload["toolArgs"]),
      sessionId: optionalText(payload, "sessionId") ?? "copilot",
      cwd: optionalText(payload, "cwd"),
    })
    switch (event) {
      case "preToolUse":
        return { kind: "before", call: call(), isAttended: false }
      case "postToolUse": {
        const result = payload["toolResult"]
        const type = isObject(result) ? result["resultType"] : undefined
        const failed = type === "failure" || type === "error" || type === "denied"
        const text = isObject(result) ? optionalText(result, "textResultForLlm") : undefined
        return { kind: "after", call: call(), outcome: failed ? { failed: text ?? "It failed." } : { value: result } }
      }
      case "sessionEnd":
        return { kind: "session-end", sessionId: optionalText(payload, "sessionId") ?? "copilot" }
      case undefined:
        throw new Error("The installed command has no --event. Install it again with 'qm install copilot'.")
      default:
        return { kind: "other" }
    }
  },
  allow: () => json({ permissionDecision: "allow" }),
  deny: (reason) => json({ permissionDecision: "deny", permissionDecisionReason: reason }),
  replace: (output, text) =>
    json({ modifiedResult: { ...(isObject(output) ? output : { resultType: "success" }), textResultForLlm: text } }),
}

/** Cursor. */
export const cursorHooks: HookClient = {
  takesInput: false,
  read(payload, given) {
    const event = optionalText(payload, "hook_event_name") ?? given
    const sessionId = () => textOf(payload, "conversation_id", "session_id")
    const call = () => ({
      tool: cursorTool(textOf(payload, "tool_name")),
      input: inputOf(payload["tool_input"]),
      id: optionalText(payload, "tool_use_id"),
      sessionId: sessionId(),
      cwd: optionalText(payload, "cwd") ?? firstText(payload["workspace_roots"]),
    })
    switch (event) {
      case "preToolUse":
        return { kind: "before", call: call(), isAttended: false }
      case "postToolUse":
        return { kind: "after", call: call(), outcome: { value: payload["tool_output"] ?? null } }
      case "postToolUseFailure":
        return {
          kind: "after",
          call: call(),
          outcome: { failed: optionalText(payload, "error_message") ?? "The tool failed." },
        }
      case "sessionEnd":
        return { kind: "session-end", sessionId: sessionId() }
      case undefined:
        throw new Error("It has no hook_event_name.")
      default:
        return { kind: "other" }
    }
  },
  allow: () => json({ permission: "allow" }),
  deny: (reason) => json({ permission: "deny", user_message: reason, agent_message: reason }),
  // Only the output of MCP tools can be replaced.
  replace: (_, text, { tool }) => (tool.startsWith("mcp__") ? json({ updated_mcp_tool_output: text }) : undefined),
}

/** `MCP:create_issue` does not say its server. */
function cursorTool(name: string): string {
  return name.startsWith("MCP:") ? `mcp__cursor__${name.slice(4)}` : name
}

function firstText(value: unknown): string | undefined {
  const first: unknown = Array.isArray(value) ? value[0] : undefined
  return typeof first === "string" ? first : undefined
}

/** The plugin that `qm install opencode` writes: it sends what it gets and does what it is answered. */
export const opencodeHooks: HookClient = {
  takesInput: true,
  read(payload, given) {
    const event = optionalText(payload, "event") ?? given
    const sessionId = () => textOf(payload, "sessionID")
    const call = () => ({
      tool: textOf(payload, "tool"),
      input: payload["args"] ?? {},
      id: optionalText(payload, "callID"),
      sessionId: sessionId(),
      cwd: optionalText(payload, "cwd"),
    })
    switch (event) {
      case "before":
        return { kind: "before", call: call(), isAttended: false }
      case "after":
        return { kind: "after", call: call(), outcome: { value: payload["output"] ?? null } }
      case "end":
        return { kind: "session-end", sessionId: sessionId() }
      case undefined:
        throw new Error("It has no event.")
      default:
        return { kind: "other" }
    }
  },
  allow: (change) => json({ decision: "allow", ...(change === undefined ? {} : { args: change.input }) }),
  deny: (reason) => json({ decision: "deny", reason }),
  replace: (_, text) => json({ decision: "allow", output: text }),
}
