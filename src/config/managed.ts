import type { HookCommand } from "./client-hooks.ts"
import { hooksText } from "./client-hooks.ts"

/** Returns the file that an administrator deploys for a client, and its path. Undefined where it is not known. */
export function managedSettings(
  client: string,
  name: string,
  hook: HookCommand,
): { file: string; text: string } | undefined {
  switch (client) {
    case "claude": {
      const fixed = {
        allowManagedHooksOnly: true,
        allowManagedMcpServersOnly: true,
        allowedMcpServers: [{ serverName: name }],
        disableBypassPermissionsMode: "disable",
      }
      return { file: "/etc/claude-code/managed-settings.json", text: hooksText("claude", hook, fixed) }
    }
    case "gemini":
      return { file: "/etc/gemini-cli/settings.json", text: hooksText("gemini", hook, { mcp: { allowed: [name] } }) }
    case "qwen":
      return { file: "/etc/qwen-code/settings.json", text: hooksText("qwen", hook, { mcp: { allowed: [name] } }) }
    case "cursor":
      return { file: "/etc/cursor/hooks.json", text: hooksText("cursor", hook, {}) }
    default:
      return undefined
  }
}
