import { claudeHooks, claudeReplace, codexReplace } from "./claude.ts"
import { geminiHooks } from "./gemini.ts"
import type { HookClient } from "./hook-client.ts"
import { copilotHooks, cursorHooks, opencodeHooks } from "./others.ts"

/** The coding agents whose hooks are answered. */
export const hookClients = {
  claude: claudeHooks({ takesInput: true, asks: true, replace: claudeReplace }),
  // It runs what a hook answers with `ask`, so it is never answered so.
  codex: claudeHooks({ takesInput: true, replace: codexReplace, isCodex: true }),
  gemini: geminiHooks,
  qwen: claudeHooks({}),
  cursor: cursorHooks,
  vscode: claudeHooks({}),
  copilot: copilotHooks,
  opencode: opencodeHooks,
} as const satisfies Record<string, HookClient>

export type HookClientName = keyof typeof hookClients

export const hookClientNames = Object.keys(hookClients) as HookClientName[]
