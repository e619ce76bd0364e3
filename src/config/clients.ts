/** Programs whose configuration `qm install` writes. */
export const clientNames = [
  "claude",
  "claude-desktop",
  "cursor",
  "vscode",
  "codex",
  "gemini",
  "qwen",
  "opencode",
  "copilot",
  "cline",
  "windsurf",
  "zed",
] as const
export type ClientName = (typeof clientNames)[number]

/** Those whose servers and permissions `qm init --from` reads. */
export const importNames = ["claude", "cursor", "vscode", "codex", "gemini"] as const
export type ImportName = (typeof importNames)[number]

/** Coding agents whose hooks `qm install` sets up, so that their own tools are decided on too. */
export const hookedClients = ["claude", "codex", "gemini", "qwen", "cursor", "copilot", "opencode"] as const

/** Seconds that a hook may take: so long a person can answer before the model is told to come back. */
export const hookSeconds = 600
