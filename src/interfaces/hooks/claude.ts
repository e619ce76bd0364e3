import { isObject } from "../../lib/is-object.ts"
import { json, nothing, optionalText, textOf, type Fields, type HookClient, type HookedCall } from "./hook-client.ts"

/** In these modes a question of a hook reaches the person. In the others the agent answers it itself. */
const attendedModes = ["default", "acceptEdits", "plan"]

/** The differences between the agents that took over Claude Code's hooks. */
interface Variant {
  takesInput?: boolean
  asks?: boolean
  replace?: HookClient["replace"]
  /** Codex takes an allow without another input for a mistake of its hook, and tells of the end of turns only. */
  isCodex?: boolean
}

/** Claude Code, and the agents whose hooks have its shape. */
export const claudeHooks = ({
  takesInput = false,
  asks = false,
  replace = () => undefined,
  isCodex = false,
}: Variant): HookClient => ({
  takesInput,
  read(payload, given) {
    const event = optionalText(payload, "hook_event_name", "hookEventName") ?? given
    switch (event) {
      case "PreToolUse": {
        const mode = optionalText(payload, "permission_mode")
        return { kind: "before", call: callOf(payload), isAttended: mode !== undefined && attendedModes.includes(mode) }
      }
      case "PostToolUse":
        return { kind: "after", call: callOf(payload), outcome: { value: payload["tool_response"] ?? null } }
      case "PostToolUseFailure":
        return { kind: "after", call: callOf(payload), outcome: { failed: errorOf(payload) } }
      case "SessionEnd":
        return { kind: "session-end", sessionId: textOf(payload, "session_id", "sessionId") }
      case "Stop":
        return isCodex ? { kind: "session-end", sessionId: textOf(payload, "session_id") } : { kind: "other" }
      case undefined:
        throw new Error("It has no hook_event_name.")
      default:
        return { kind: "other" }
    }
  },
  allow(change, note) {
    const context = note === undefined ? {} : { additionalContext: note }
    if (change === undefined && isCodex) return note === undefined ? nothing : specific("PreToolUse", context)
    const updated = change === undefined ? {} : { updatedInput: change.input }
    return specific("PreToolUse", { permissionDecision: "allow", ...updated, ...context })
  },
  ...(asks
    ? {
        ask: (reason: string) =>
          specific("PreToolUse", { permissionDecision: "ask", permissionDecisionReason: reason }),
      }
    : {}),
  deny: (reason) => specific("PreToolUse", { permissionDecision: "deny", permissionDecisionReason: reason }),
  replace,
})

function callOf(payload: Fields): HookedCall {
  return {
    tool: textOf(payload, "tool_name", "toolName"),
    input: payload["tool_input"] ?? {},
    id: optionalText(payload, "tool_use_id"),
    sessionId: textOf(payload, "session_id", "sessionId"),
    cwd: optionalText(payload, "cwd"),
    subAgent: optionalText(payload, "agent_type"),
  }
}

function errorOf(payload: Fields): string {
  return optionalText(payload, "error") ?? "The tool failed."
}

function specific(hookEventName: string, output: Fields) {
  return json({ hookSpecificOutput: { hookEventName, ...output } })
}

/** Claude Code takes another output only in the shape that the tool's own output has. */
export const claudeReplace: HookClient["replace"] = (output, text, { tool }) => {
  const updated = tool.startsWith("mcp__") ? text : inShapeOf(output, text)
  if (updated === undefined) return undefined
  const name = tool.startsWith("mcp__") ? "updatedMCPToolOutput" : "updatedToolOutput"
  return specific("PostToolUse", { [name]: updated })
}

function inShapeOf(output: unknown, text: string): unknown {
  if (typeof output === "string") return text
  if (!isObject(output)) return undefined
  if (typeof output["stdout"] === "string") return { ...output, stdout: text, stderr: "" }
  const file = output["file"]
  if (isObject(file) && typeof file["content"] === "string") return { ...output, file: { ...file, content: text } }
  const name = ["content", "result", "output"].find((each) => typeof output[each] === "string")
  return name === undefined ? undefined : { ...output, [name]: text }
}

/** Codex puts the reason in the place of what the tool returned. */
export const codexReplace: HookClient["replace"] = (_, text) => json({ decision: "block", reason: text })
