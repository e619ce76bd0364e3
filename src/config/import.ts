import { existsSync, statSync } from "node:fs"
import { basename, join, relative, resolve } from "node:path"
import { stringify } from "yaml"
import { checkConfig } from "./check.ts"
import { readUpTo } from "./find.ts"
import { permissionRules, type ImportedRule } from "./import-permissions.ts"
import { importServers, type FoundServer, type ImportedServer } from "./import-servers.ts"
import { interpolate } from "./interpolate.ts"
import { JsoncError, readJsonc } from "./jsonc.ts"
import { serverFlaws } from "./mcp-servers.ts"
import { isObject } from "./merge.ts"
import { ConfigError } from "./problem.ts"

/** Programs whose configuration can be read. */
export type ImportedClient = "claude" | "cursor" | "vscode"

export interface ImportedConfig {
  files: string[]
  /** The configuration as YAML. */
  text: string
  servers: string[]
  rules: number
  /** What could not be taken over, or is to be looked at; a sentence each. */
  notes: string[]
}

interface Read {
  file: string
  /** As people would say it, for sentences and for the reasons of rules. */
  called: string
  value: Record<string, unknown>
}

/** Reads the servers and permissions another program has for this folder, or those of one file. Writes nothing. */
export function importFrom(
  client: ImportedClient,
  path: string | undefined,
  { cwd, home }: { cwd: string; home: string },
): ImportedConfig {
  const given = path === undefined ? cwd : resolve(cwd, path)
  const isFile = statSync(given, { throwIfNoEntry: false })?.isFile() === true
  const places = isFile ? [given] : placesOf[client](given, home)
  const files = places.filter((file) => existsSync(file))
  if (files.length === 0) {
    const looked = places.map((file) => called(file, given, home)).join(", ")
    throw refused(given, `No configuration of ${client} was found. Looked for ${looked}. Give its path.`)
  }
  const folder = isFile ? cwd : given
  const reads = files.map((file): Read => ({ file, called: called(file, folder, home), value: readObject(file) }))
  const notes: string[] = []
  const servers = importServers(
    reads.flatMap((read) => serversIn(read, folder)),
    folder,
    notes,
  )
  switchOff(servers, reads, folder)
  const rules = [
    ...servers.flatMap(({ rules: own }) => own),
    ...reads.flatMap((read) =>
      sectionsOf(read, folder).flatMap((section) => permissionRules(section, read.called, servers, notes)),
    ),
  ]
  for (const { called: name, value } of reads) noteTheRest(name, value, notes)
  return finished(files, sound(servers, notes), rules, notes, client)
}

/** Where each program keeps what it is configured with; what comes later counts before what comes earlier. */
const placesOf: Readonly<Record<ImportedClient, (folder: string, home: string) => string[]>> = {
  claude: (folder, home) => [
    join(home, ".claude.json"),
    join(home, ".claude", "settings.json"),
    join(folder, ".mcp.json"),
    join(folder, ".claude", "settings.json"),
    join(folder, ".claude", "settings.local.json"),
  ],
  cursor: (folder, home) => [join(home, ".cursor", "mcp.json"), join(folder, ".cursor", "mcp.json")],
  vscode: (folder) => [join(folder, ".vscode", "mcp.json")],
}

function called(file: string, folder: string, home: string): string {
  const inFolder = relative(folder, file)
  if (!inFolder.startsWith("..")) return inFolder
  const inHome = relative(home, file)
  return inHome.startsWith("..") ? basename(file) : `~/${inHome}`
}

function readObject(file: string): Record<string, unknown> {
  const { bytes } = readUpTo(file, 32 * 1024 * 1024)
  try {
    const { value } = readJsonc(bytes.toString("utf8"))
    if (isObject(value)) return value
    throw refused(file, "This file holds no names and values. Give the path of the program's configuration.")
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error
    throw refused(file, `This is not valid JSON: ${error.message}. Correct it there first.`)
  }
}

/** A file's own part, and what Claude keeps in it for this folder. */
function sectionsOf({ value }: Read, folder: string): Record<string, unknown>[] {
  const projects = value["projects"]
  const own = isObject(projects) && Object.hasOwn(projects, folder) ? projects[folder] : undefined
  return isObject(own) ? [value, own] : [value]
}

function serversIn(read: Read, folder: string): FoundServer[] {
  return sectionsOf(read, folder).flatMap((section) => {
    const inputs = Array.isArray(section["inputs"]) ? section["inputs"].filter(isObject) : []
    const servers = isObject(section["mcpServers"]) ? section["mcpServers"] : section["servers"]
    if (!isObject(servers)) return []
    return Object.entries(servers).map(([name, entry]) => ({ name, entry, inputs, from: read.called }))
  })
}

/** Claude keeps elsewhere which servers of a folder are not to be started. */
function switchOff(servers: readonly ImportedServer[], reads: readonly Read[], folder: string): void {
  const names = reads.flatMap((read) =>
    sectionsOf(read, folder).flatMap((section) => section["disabledMcpjsonServers"]),
  )
  for (const server of servers) if (names.flat().includes(server.theirName)) server.entry["enabled"] = false
}

/** What these files say of other things, by name: what it does there has no counterpart here. */
function noteTheRest(name: string, value: Record<string, unknown>, notes: string[]): void {
  const known: Readonly<Record<string, string>> = {
    hooks: "Hooks run commands around tool calls; rules and approvals decide here.",
    env: "Its environment variables are for that program. Set those you need before you start Quartermaster.",
    sandbox: "Its sandbox is for that program's own commands.",
  }
  for (const [key, sentence] of Object.entries(known)) {
    const part = value[key]
    if (isObject(part) && Object.keys(part).length > 0) notes.push(`'${key}' in ${name} is not taken over. ${sentence}`)
  }
}

/** Leaves out what would make the file unusable, with the sentence that says why. */
function sound(servers: readonly ImportedServer[], notes: string[]): ImportedServer[] {
  return servers.filter(({ name, entry }) => {
    const filled = interpolate({ mcpServers: { [name]: entry } }, anything).value
    const { config, flaws } = checkConfig(filled)
    const problems = [...flaws, ...serverFlaws(config)].map(({ sentence }) => sentence)
    if (problems.length > 0) notes.push(`Server '${name}' is left out: ${problems.join(" ")}`)
    return problems.length === 0
  })
}

/** An environment in which every variable is set. */
const anything = new Proxy({} as Record<string, string>, {
  getOwnPropertyDescriptor: () => ({ value: "x", configurable: true, enumerable: true }),
  get: () => "x",
})

function finished(
  files: string[],
  servers: readonly ImportedServer[],
  rules: readonly ImportedRule[],
  notes: string[],
  client: ImportedClient,
): ImportedConfig {
  const config = {
    ...(servers.length > 0 && { mcpServers: Object.fromEntries(servers.map(({ name, entry }) => [name, entry])) }),
    ...(rules.length > 0 && { rules }),
  }
  const comments = notes.map((note) => `# - ${note.replaceAll(/\s+/g, " ")}`)
  const text = [
    "# yaml-language-server: $schema=.quartermaster/config.schema.json",
    `# Taken over from ${client} by 'qm init --from ${client}'. 'qm init' in an empty folder shows every key.`,
    "# Run 'qm trust' after reading it, and after every change: until then it counts only where it tightens.",
    ...(comments.length > 0 ? ["#", "# To look at:", ...comments] : []),
    "",
    Object.keys(config).length === 0 ? "{}\n" : stringify(config, { lineWidth: 0 }),
  ]
  return { files, text: text.join("\n"), servers: servers.map(({ name }) => name), rules: rules.length, notes }
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}
