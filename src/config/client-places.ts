import { join } from "node:path"
import type { ClientName } from "./clients.ts"

/** The place of a client's MCP servers, and its form of one that is started as a program. */
export interface ClientPlace {
  /** The file, in the project where the client reads one there. */
  file(cwd: string, home: string): string
  /** True for a file in the project, which is shared: it has no path of this machine. */
  isShared: boolean
  section: readonly string[]
  isToml?: true
  /** The client's form of the folder it has open. Without it, the server is started in that folder. */
  openFolder?: string
  entry(command: string, args: readonly string[]): Record<string, unknown>
}

const plain = (command: string, args: readonly string[]) => ({ command, args })
const stdio = (command: string, args: readonly string[]) => ({ type: "stdio", command, args })

const inProject = (...path: string[]) => ({ file: (cwd: string) => join(cwd, ...path), isShared: true })
const inHome = (...path: string[]) => ({ file: (_: string, home: string) => join(home, ...path), isShared: false })

/** A person may take this long to answer a call. */
const callMs = 600_000

export const clientPlaces: Readonly<Record<ClientName, ClientPlace>> = {
  claude: {
    ...inProject(".mcp.json"),
    section: ["mcpServers"],
    // Without `alwaysLoad` its model must search for our tools first.
    entry: (command, args) => ({ ...stdio(command, args), alwaysLoad: true, timeout: callMs }),
  },
  "claude-desktop": {
    file: (_, home) => join(home, ...desktopFolder(), "Claude", "claude_desktop_config.json"),
    isShared: false,
    section: ["mcpServers"],
    entry: plain,
  },
  cursor: {
    ...inProject(".cursor", "mcp.json"),
    section: ["mcpServers"],
    openFolder: "${workspaceFolder}",
    entry: plain,
  },
  vscode: {
    ...inProject(".vscode", "mcp.json"),
    section: ["servers"],
    openFolder: "${workspaceFolder}",
    entry: stdio,
  },
  codex: {
    ...inProject(".codex", "config.toml"),
    section: ["mcp_servers"],
    isToml: true,
    // Without `required` it begins without our tools when they take a second to be listed.
    entry: (command, args) => ({
      command,
      args,
      required: true,
      startup_timeout_sec: 60,
      tool_timeout_sec: callMs / 1000,
    }),
  },
  gemini: {
    ...inProject(".gemini", "settings.json"),
    section: ["mcpServers"],
    entry: (command, args) => ({ command, args, timeout: callMs }),
  },
  qwen: {
    ...inProject(".qwen", "settings.json"),
    section: ["mcpServers"],
    entry: (command, args) => ({ command, args, timeout: callMs }),
  },
  opencode: {
    ...inProject("opencode.json"),
    section: ["mcp"],
    entry: (command, args) => ({ type: "local", command: [command, ...args], enabled: true, timeout: 60_000 }),
  },
  copilot: {
    ...inHome(".copilot", "mcp-config.json"),
    section: ["mcpServers"],
    entry: (command, args) => ({ type: "local", command, args, tools: ["*"] }),
  },
  cline: { ...inHome(".cline", "data", "settings", "cline_mcp_settings.json"), section: ["mcpServers"], entry: plain },
  windsurf: { ...inHome(".codeium", "windsurf", "mcp_config.json"), section: ["mcpServers"], entry: plain },
  zed: { ...inProject(".zed", "settings.json"), section: ["context_servers"], entry: plain },
}

function desktopFolder(): string[] {
  if (process.platform === "darwin") return ["Library", "Application Support"]
  return process.platform === "win32" ? ["AppData", "Roaming"] : [".config"]
}
