import { existsSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"
import { valueAtPath } from "../schema/problems.ts"
import type { Environment } from "./interpolate.ts"
import { schemaLine, writeSchema } from "./editor-schema.ts"
import { configFilesIn, fileNames, localName } from "./find.ts"
import { ConfigError } from "./config-error.ts"
import { defaults } from "./schema.ts"
import { explanationOf, keysAt } from "./schema-path.ts"
import { refuseInside, trust, type Pin } from "./trust.ts"

export interface InitialConfig {
  file: string
  schemaFile: string
  pin: Pin
}

/** Writes a commented configuration and the schema for editors, and trusts what it wrote. Never overwrites. */
export function writeInitialConfig(
  dir: string,
  home: string,
  env: Environment,
  { shellMode = "ask" }: { shellMode?: "ask" | "sandbox" } = {},
): InitialConfig {
  const written = writeConfig(dir, initialText(shellMode), env)
  return { ...written, pin: trust(written.file, home, env) }
}

/** Writes a configuration with another text, without trusting it: a person must read it first. */
export function writeConfig(dir: string, text: string, env: Environment): Omit<InitialConfig, "pin"> {
  const file = resolve(dir, fileNames[0])
  refuseInside(file, env)
  refuseExisting(dir)
  writeFileSync(file, text, { flag: "wx" })
  return { file, schemaFile: writeSchema(dir) }
}

/**
 * The text of a first configuration. Keys with a default are set to it; the others are commented-out examples. The shell
 * mode `sandbox` is written where a person wanted it.
 */
export function initialText(shellMode: "ask" | "sandbox" = "ask"): string {
  const sections = keysAt([]).map((key) => {
    const inner = keysAt([key])
    const lines = inner.flatMap((name) => {
      const written = keyLines([key, name], "  ")
      return shellMode === "sandbox" && key === "tools" && name === "shell" ? withSandbox(written) : written
    })
    const isWhole = inner.length === 0 || key in examples
    return (isWhole ? keyLines([key], "") : [`# ${explanationOf([key])}`, `${key}:`, ...lines]).join("\n")
  })
  return `${[opening, ...sections].join("\n\n")}\n`
}

const opening = `${schemaLine}
# Remove the '#' before a key to use it. \${NAME} reads an environment variable.
# Run 'qm trust' after every change: until then only settings that make Quartermaster stricter apply.`

const { trash, shell } = defaults.tools
const { limits } = shell

/** Examples for the keys that are commented out. The other keys are set to their default. */
export const examples: Readonly<Record<string, string>> = {
  "data.dir": " .quartermaster",
  workspace: " .",
  agent: " operator",
  "tools.enabled": " [current_time, json_parse, ask_user]",
  "tools.timeout": ` ${defaults.tools.timeout}`,
  "tools.permissions": `
  sleep:
    level: moderate
    requireExecutionApproval: true
    requireResultApproval: on-error
    dangerous: false
    requireConfirmation: false
    allowedRoles: [developer]
    allowedDepartments: [engineering]
    minLevel: 1
    rateLimit: { maxCallsPerMinute: 10, maxCallsPerHour: 100 }
  run_command: { allowedRoles: [developer, devops, architect] }`,
  "tools.workspaceDir": " .",
  "tools.allowedPaths": " [docs, src]",
  "tools.protectedPaths": ' ["migrations/**"]',
  "tools.maxFileSize": ` ${defaults.tools.maxFileSize}`,
  "tools.allowedExtensions": " [.md, .ts]",
  "tools.shell": `
  mode: ask
  allow: [ls, cat, git status, npm test]
  deny: [rm, curl]
  sandbox: auto
  timeout: 30000
  limits: { memoryMb: ${limits.memoryMb}, fileMb: ${limits.fileMb}, processes: ${limits.processes}, tmpMb: ${limits.tmpMb} }`,
  "tools.trash": ` { days: ${trash.days}, maxMb: ${trash.maxMb} }`,
  "tools.hosts": `
  allow: ["*.docs.example"]
  deny: [tracker.example]`,
  "tools.webSearch": `
  provider: tavily
  apiKey: "\${TAVILY_API_KEY:-}"
  maxResults: 5
  engineId: none
  baseUrl: https://search.example`,
  "tools.mcpServers": `
  - { name: search, url: "https://search.example/mcp", enabled: true }`,
  mcpServers: `
  files:
    command: npx
    args: [-y, "@modelcontextprotocol/server-filesystem", "."]
    env: { LOG_LEVEL: info }
    cwd: .
    type: stdio
    layer: system
    prefix: true
    trust: first
    trustReadOnly: false
    sampling: refuse
    roots: workspace
    timeout: 60000
    connectTimeout: 20000
    protocol: 2025-11-25
  tickets:
    url: https://tickets.example/mcp
    headers: { Authorization: "Bearer \${TICKETS_TOKEN:-}" }
    transport: http
    disabled: true
  calendar:
    url: https://calendar.example/mcp
    auth:
      grant: client_credentials
      clientId: quartermaster
      clientSecret: "\${CALENDAR_SECRET:-none}"
      scopes: [read]
      issuer: https://login.example
      redirectPort: 8123
  notes:
    url: https://notes.example/mcp
    auth: { clientMetadataUrl: "https://notes.example/client.json" }`,
  plugins: `
  - { path: ./plugins/greet.js, layer: system, config: { greeting: Hello } }`,
  modules: `
  - ./plugins/notes.js`,
  experiments: `
  search: { tool: web_search, versions: [1.0.0, 2.0.0], share: 0.5 }`,
  models: `
  default: local
  local:
    provider: openai-compatible
    baseUrl: http://127.0.0.1:11434/v1
    model: qwen3
    apiKey: "\${LOCAL_KEY:-}"
    contextTokens: 32768
    maxOutputTokens: 4096
    streamTools: true
    images: false
    timeout: 600000
    firstByteTimeout: 120000
  claude:
    provider: anthropic
    model: claude-sonnet-4-5
    apiKey: "\${ANTHROPIC_API_KEY}"
    price: { input: 3, output: 15, cachedInput: 0.3, cacheWrite: 3.75 }
  demo: { provider: scripted, script: demo.yml }`,
  databases: `
  shop: { url: "sqlite:./shop.db", description: Orders and customers }
  crm: { url: "postgres://agent:\${CRM_PASSWORD:-}@db.example/crm", readOnly: true, roles: [analyst] }`,
  "agents.maxTokens": " 200000",
  "agents.maxCost": " 5",
  "agents.maxTreeCalls": " 1000",
  "agents.perAgent": " { maxTokens: 50000, maxCost: 1, maxCalls: 300 }",
  "agents.budgetPerDay": " { maxTokens: 2000000, maxCost: 20 }",
  "server.publicUrl": " https://tools.example",
  "server.allowedHosts": " [tools.example]",
  "server.allowedOrigins": " [console.example]",
  "org.roles": `
  - id: developer
    name: Developer
    rolePrompt: You write code.
    toolGroups: [data, system, command, workspace]
    department: engineering
    level: 1
    dialect: native
    llmServiceId: null
    pins: { sleep: 1.0.0 }`,
  "org.agents": `
  - { id: ada, role: developer, department: engineering, level: 1, parent: root, folder: docs, pins: {} }`,
  "org.people": `
  - { id: ann, name: Ann, roles: [lead], scopes: [read, call, approve, manage], tokenHash: "${"0".repeat(64)}", tokenExpiresAt: 2027-01-31 }`,
  "org.departments": `
  - { id: engineering, name: Engineering }`,
  "org.defaultToolGroups": " [console]",
  notify: `
  - webhook: https://chat.example/hooks/quartermaster
  - { command: [notify-send, A call waits for your approval], person: li }`,
  rules: `
  - deny: run_command
    role: [developer]
    department: engineering
    agent: ada
    effect: execute
    touching: ["command:rm *"]
    args: { /command: "*" }
    except: ["command:rm notes.txt"]
    because: Use delete_file to delete files.
    examples: { match: [{ agent: ada, tool: run_command, input: { command: rm x } }], miss: [] }
    shadow: true
    expiresAt: 2027-01-01T00:00:00Z
  - { ask: http_*, because: Two people approve outgoing requests., approvers: { role: lead, count: 2 }, deadline: 10 }
  - { ask: get_env, because: A person checks values before a model sees them., release: always }
  - { allow: write_file, touching: "write:docs/**", because: Everybody may write documentation. }
  - { allow: set_env, agent: ada, because: Ada sets up the session. }
  - { ask: sleep, args: { /duration: { above: 60, below: 600 } }, because: A person hears of long breaks. }
  - { deny: set_env, args: { /key: { oneOf: [PATH, "LD_*"], not: LD_DEBUG } }, because: They change what runs. }`,
}

/** The section `shell` with its mode set to sandbox and its other keys commented out. */
function withSandbox([explanation = "", , , ...others]: readonly string[]): string[] {
  return [
    explanation,
    "  shell:",
    "    # sandbox: commands run in bubblewrap unasked; they write only in the workspace and have no network. What visibly",
    "    # deletes or overwrites files asks. What a script does inside is not seen, and is not in the trash.",
    "    # To approve each command that is not listed in 'allow', write instead: mode: ask",
    "    mode: sandbox",
    ...others.map((line) => line.replace("#  ", "  #")),
  ]
}

function keyLines(path: readonly string[], indent: string): string[] {
  const key = path.at(-1)
  const example = examples[path.join(".")]
  const lines =
    example === undefined ? [`${key}: ${String(valueAtPath(defaults, path))}`] : `${key}:${example}`.split("\n")
  const mark = example === undefined ? "" : "#"
  return [`${indent}# ${explanationOf(path)}`, ...lines.map((line) => `${indent}${mark}${line}`)]
}

/** Throws if there is a configuration already. */
export function refuseExisting(dir: string): void {
  const local = resolve(dir, localName)
  const existing = [...configFilesIn(dir), ...(existsSync(local) ? [local] : [])]
  const sentence = "This file already exists and is not overwritten. Edit it, or move it away and run 'qm init' again."
  if (existing.length > 0) throw new ConfigError(existing.map((file) => ({ file, key: "", sentence })))
}
