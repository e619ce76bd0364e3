import { isObject } from "../lib/is-object.ts"
import { existsSync, statSync } from "node:fs"
import { basename, join, relative, resolve } from "node:path"
import { stringify } from "yaml"
import { hideSecrets } from "../lib/secret-patterns.ts"
import { checkConfig } from "./check-configuration.ts"
import type { ImportName } from "./clients.ts"
import { schemaLine } from "./editor-schema.ts"
import { readUpTo } from "./find.ts"
import { permissionRules, type ImportedRule } from "./import-permissions.ts"
import { importServers, type FoundServer, type ImportedServer } from "./import-servers.ts"
import { interpolate } from "./interpolate.ts"
import { JsoncError, readJsonc } from "./jsonc.ts"
import { readToml, TomlError } from "./toml.ts"
import { serverFlaws } from "./mcp-servers.ts"
import { ConfigError } from "./config-error.ts"

export interface ImportedConfig {
  files: string[]
  /** The configuration as YAML. */
  text: string
  servers: string[]
  rules: number
  /** The parts that could not be imported or should be checked, a sentence each. */
  notes: string[]
}

interface Read {
  file: string
  /** The short path, for messages and for the reasons of rules. */
  called: string
  value: Record<string, unknown>
}

/** Reads another program's servers and permissions for this folder, or from one file. Writes nothing. */
export function importFrom(
  client: ImportName,
  path: string | undefined,
  { cwd, home }: { cwd: string; home: string },
): ImportedConfig {
  const given = path === undefined ? cwd : resolve(cwd, path)
  const isFile = statSync(given, { throwIfNoEntry: false })?.isFile() === true
  const places = isFile ? [given] : placesOf[client](given, home)
  const files = places.filter((file) => existsSync(file))
  if (files.length === 0) {
    const searched = places.map((file) => called(file, given, home)).join(", ")
    throw refused(
      given,
      `No configuration of ${client} was found. Looked for ${searched}. Give its path, or run 'qm init' without --from.`,
    )
  }
  const folder = isFile ? cwd : given
  const reads = files.map((file): Read => ({ file, called: called(file, folder, home), value: readObject(file) }))
  const notes: string[] = []
  const servers = importServers(
    reads.flatMap((read) => serversIn(read, folder)),
    folder,
    notes,
  )
  disableServers(servers, reads, folder)
  const rules = [
    ...servers.flatMap(({ rules: own }) => own),
    ...reads.flatMap((read) =>
      sectionsOf(read, folder).flatMap((section) =>
        permissionRules(withGeminiTools(section), read.called, servers, notes, { folder, home }),
      ),
    ),
  ]
  for (const { called: name, value } of reads) noteIgnored(name, value, notes)
  const valid = validServers(servers, notes)
  return finished(
    files,
    valid,
    rules,
    notes.map((note) => hideSecrets(note)),
    client,
  )
}

/** Each program's configuration files; later ones override earlier ones. */
const placesOf: Readonly<Record<ImportName, (folder: string, home: string) => string[]>> = {
  claude: (folder, home) => [
    join(home, ".claude.json"),
    join(home, ".claude", "settings.json"),
    join(folder, ".mcp.json"),
    join(folder, ".claude", "settings.json"),
    join(folder, ".claude", "settings.local.json"),
  ],
  cursor: (folder, home) => [join(home, ".cursor", "mcp.json"), join(folder, ".cursor", "mcp.json")],
  vscode: (folder) => [join(folder, ".vscode", "mcp.json")],
  codex: (folder, home) => [join(home, ".codex", "config.toml"), join(folder, ".codex", "config.toml")],
  gemini: (folder, home) => [join(home, ".gemini", "settings.json"), join(folder, ".gemini", "settings.json")],
}

function called(file: string, folder: string, home: string): string {
  const inFolder = relative(folder, file)
  if (!inFolder.startsWith("..")) return inFolder
  const inHome = relative(home, file)
  return inHome.startsWith("..") ? basename(file) : `~/${inHome}`
}

function readObject(file: string): Record<string, unknown> {
  const { bytes } = readUpTo(file, 32 * 1024 * 1024)
  if (file.endsWith(".toml")) return readTomlFile(file, bytes.toString("utf8"))
  try {
    const { value } = readJsonc(bytes.toString("utf8"))
    if (isObject(value)) return value
    throw refused(file, "This file is not a JSON object. Give the path of the program's configuration.")
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error
    throw refused(file, `This is not valid JSON: ${error.message}. Correct it there first.`)
  }
}

function readTomlFile(file: string, text: string): Record<string, unknown> {
  try {
    return readToml(text)
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    throw refused(file, `This is not valid TOML: ${error.message}. Correct it there first.`)
  }
}

/** The file's top level, and Claude's section for this folder in it. */
function sectionsOf({ value }: Read, folder: string): Record<string, unknown>[] {
  const projects = value["projects"]
  const own = isObject(projects) && Object.hasOwn(projects, folder) ? projects[folder] : undefined
  return isObject(own) ? [value, own] : [value]
}

function serversIn(read: Read, folder: string): FoundServer[] {
  return sectionsOf(read, folder).flatMap((section) => {
    const inputs = Array.isArray(section["inputs"]) ? section["inputs"].filter(isObject) : []
    const named = ["mcpServers", "servers", "mcp_servers"].find((key) => isObject(section[key]))
    const servers = named === undefined ? undefined : section[named]
    if (!isObject(servers)) return []
    return Object.entries(servers).map(([name, entry]) => ({ name, entry, inputs, from: read.called }))
  })
}

/** Disables the servers that Claude lists as disabled. */
function disableServers(servers: readonly ImportedServer[], reads: readonly Read[], folder: string): void {
  const names = reads.flatMap((read) =>
    sectionsOf(read, folder).flatMap((section) => section["disabledMcpjsonServers"]),
  )
  for (const server of servers) if (names.flat().includes(server.theirName)) server.entry["enabled"] = false
}

/** Gemini's lists of tools, as Claude writes permissions: `run_shell_command(git)` is `Bash(git:*)`. */
function withGeminiTools(section: Record<string, unknown>): Record<string, unknown> {
  const tools = isObject(section["tools"]) ? section["tools"] : {}
  const [allow, deny] = [tools["allowed"], tools["exclude"] ?? section["excludeTools"]]
  if (!Array.isArray(allow) && !Array.isArray(deny)) return section
  return { ...section, permissions: { allow: geminiNames(allow), deny: geminiNames(deny) } }
}

function geminiNames(list: unknown): string[] {
  const names = Array.isArray(list) ? list.filter((name) => typeof name === "string") : []
  return names.map((name) => {
    const [, tool = name, part] = /^([a-z_]+)(?:\((.*)\))?$/s.exec(name) ?? []
    const claude = Object.hasOwn(geminiTools, tool) ? geminiTools[tool] : undefined
    if (claude === undefined) return name
    return part === undefined || part === "" ? claude : `${claude}(${part}:*)`
  })
}

const geminiTools: Readonly<Record<string, string>> = {
  run_shell_command: "Bash",
  ShellTool: "Bash",
  read_file: "Read",
  write_file: "Write",
  replace: "Edit",
  glob: "Glob",
  grep_search: "Grep",
  list_directory: "LS",
  web_fetch: "WebFetch",
  google_web_search: "WebSearch",
}

/** Notes the settings that are not imported because they have no counterpart here. */
function noteIgnored(name: string, value: Record<string, unknown>, notes: string[]): void {
  const known: Readonly<Record<string, string>> = {
    hooks: "Hooks run commands around tool calls; 'qm install' sets up ours beside them.",
    env: "Its environment variables are for that program. Set those you need before you start Quartermaster.",
    sandbox: "Its sandbox is for that program's own commands.",
    approval_policy: "How often that program asks is its own; write rules for what runs unasked.",
    sandbox_mode: "Its sandbox is for that program's own commands.",
  }
  for (const [key, sentence] of Object.entries(known)) {
    const part = value[key]
    const says = typeof part === "string" || (isObject(part) && Object.keys(part).length > 0)
    if (says) notes.push(`'${key}' in ${name} is not imported. ${sentence}`)
  }
}

/** Leaves out servers that would make the configuration invalid, with a note why. */
function validServers(servers: readonly ImportedServer[], notes: string[]): ImportedServer[] {
  return servers.filter(({ name, entry }) => {
    const filled = interpolate({ mcpServers: { [name]: entry } }, allVariablesSet).value
    const { config, flaws } = checkConfig(filled)
    const problems = [...flaws, ...serverFlaws(config)].map(({ sentence }) => sentence)
    if (problems.length > 0) notes.push(`Server '${name}' is left out: ${problems.join(" ")}`)
    return problems.length === 0
  })
}

/** An environment in which every variable is set. */
const allVariablesSet = new Proxy({} as Record<string, string>, {
  getOwnPropertyDescriptor: () => ({ value: "x", configurable: true, enumerable: true }),
  get: () => "x",
})

function finished(
  files: string[],
  servers: readonly ImportedServer[],
  rules: readonly ImportedRule[],
  notes: string[],
  client: ImportName,
): ImportedConfig {
  const config = {
    ...(servers.length > 0 && { mcpServers: Object.fromEntries(servers.map(({ name, entry }) => [name, entry])) }),
    ...(rules.length > 0 && { rules }),
  }
  const comments = notes.map((note) => `# - ${note.replaceAll(/\s+/g, " ")}`)
  const text = [
    schemaLine,
    `# Imported from ${client} by 'qm init --from ${client}'. 'qm init' in an empty folder shows every key.`,
    "# Read this file, then run 'qm trust', also after every change: until then only settings that make Quartermaster stricter apply.",
    ...(comments.length > 0 ? ["#", "# Please check:", ...comments] : []),
    "",
    Object.keys(config).length === 0 ? "{}\n" : stringify(config, { lineWidth: 0 }),
  ]
  return { files, text: text.join("\n"), servers: servers.map(({ name }) => name), rules: rules.length, notes }
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}
