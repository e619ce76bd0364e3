/**
 * The folder of the project. An agent that moved into another folder meanwhile, perhaps one that it made itself, is still
 * governed by the project that it was started in, where it says which that is.
 */
export function hookFolder(client: string, env: Readonly<Record<string, string | undefined>>, cwd: string): string {
  const variable = Object.hasOwn(projectVariables, client) ? projectVariables[client] : undefined
  return (variable && env[variable]) || cwd
}

const projectVariables: Readonly<Record<string, string>> = {
  claude: "CLAUDE_PROJECT_DIR",
  cursor: "CURSOR_PROJECT_DIR",
  gemini: "GEMINI_PROJECT_DIR",
  qwen: "QWEN_PROJECT_DIR",
}
