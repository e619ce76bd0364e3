import { isObject } from "../lib/is-object.ts"
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { readUpTo, userConfigFolder } from "./find.ts"
import type { ClientName } from "./clients.ts"
import { isOurselves } from "./import-servers.ts"
import { JsoncError, readJsonc } from "./jsonc.ts"
import { ConfigError } from "./config-error.ts"

/**
 * What the client does: start `qm mcp` for an agent, or connect to a running `qm serve`. Without a folder the entry can be
 * shared: it starts in the folder that the client has open.
 */
export type InstallTarget =
  | {
      command: string
      args?: readonly string[]
      folder?: string
      agent: string
      /** The groups of built-in tools that the client is shown; all if left out. */
      builtin?: readonly string[]
    }
  | { url: string; agent: string }

export interface InstallationPlan {
  file: string
  /** The current content; undefined if the file does not exist. */
  before: string | undefined
  after: string
  /** The other servers that the client still starts itself after the change. */
  others: string[]
  /** What the person still has to do, a sentence each. */
  next: string[]
  /** Writes the file, unless it has changed since. Returns the path of the backup. */
  write(): string | undefined
}

/**
 * Plans the change to a client's configuration so that it uses Quartermaster, and no longer starts the servers in
 * `remove` itself. Nothing is written before `write`.
 */
export function installInto(
  client: ClientName | { path: string },
  name: string,
  wanted: InstallTarget,
  { cwd, home, remove = [] }: { cwd: string; home: string; remove?: readonly string[] },
): InstallationPlan {
  const given = typeof client === "string" ? join(cwd, places[client]) : resolve(cwd, client.path)
  const file = existsSync(given) ? realpathSync(given) : given
  const before = existsSync(file) ? readUpTo(file, 32 * 1024 * 1024).bytes.toString("utf8") : undefined
  const changed = change(file, before ?? "", (value) => {
    const dialect = typeof client === "string" ? client : dialectOf(file, value)
    const others = otherServers(value[sectionOf(dialect)], name)
    const removed = others.filter((each) => remove.includes(each)).map((each) => [sectionOf(dialect), each])
    return { dialect, entries: entriesFor(dialect, name, wanted, value), removed, others }
  })
  return {
    file,
    before,
    after: changed.after,
    others: changed.others.filter((each) => !remove.includes(each)),
    next: "url" in wanted ? [howToToken(changed.dialect, wanted.agent)] : [],
    write: () => write(file, before, changed.after, home),
  }
}

const places: Readonly<Record<ClientName, string>> = {
  claude: ".mcp.json",
  cursor: join(".cursor", "mcp.json"),
  vscode: join(".vscode", "mcp.json"),
}

type Entries = [path: string[], value: unknown][]

interface Change {
  dialect: ClientName
  entries: Entries
  removed: string[][]
  /** The servers of others that were in the file. */
  others: string[]
}

function change(
  file: string,
  before: string,
  make: (value: Record<string, unknown>) => Change,
): Pick<Change, "dialect" | "others"> & { after: string } {
  try {
    const { value } = readJsonc(before)
    const { dialect, entries, removed, others } = make(isObject(value) ? value : {})
    const added = entries.reduce((text, [path, entry]) => readJsonc(text).with(path, entry), before)
    const after = removed.reduce((text, path) => readJsonc(text).without(path), added)
    return { after, dialect, others }
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error
    throw refused(file, `This is not valid JSON: ${error.message}. Correct it there first; nothing was written.`)
  }
}

/** VS Code uses the key `servers`, the others `mcpServers`. */
function sectionOf(dialect: ClientName): string {
  return dialect === "vscode" ? "servers" : "mcpServers"
}

function otherServers(section: unknown, ours: string): string[] {
  if (!isObject(section)) return []
  return Object.entries(section).flatMap(([name, entry]) =>
    name === ours || (isObject(entry) && isOurselves(entry)) ? [] : [name],
  )
}

/** Which client's shape a file has. A file of another shape is refused: its client would not read what we write. */
function dialectOf(file: string, value: Record<string, unknown>): ClientName {
  if (isObject(value["mcpServers"])) return "claude"
  const folder = basename(dirname(file))
  if (folder === ".vscode") return "vscode"
  if (folder === ".cursor") return "cursor"
  if (isObject(value["servers"])) return "vscode"
  const isNew = Object.keys(value).length === 0 && /\.jsonc?$/.test(file) && !basename(file).startsWith("opencode.")
  if (isNew || usesMcpServers.has(basename(file)) || settingsFolders.has(folder)) return "claude"
  throw refused(
    file,
    "This file has neither 'mcpServers' nor 'servers', so its client may keep MCP servers in a shape that is not known here. Nothing was written. Add the server in that client's own way: the command is 'qm', its arguments are 'mcp --agent <agent>'.",
  )
}

/** Files and folders of clients that keep their servers under `mcpServers` beside other settings. */
const usesMcpServers = new Set([
  ".mcp.json",
  "mcp.json",
  ".claude.json",
  "claude_desktop_config.json",
  "mcp-config.json",
])
const settingsFolders = new Set([".gemini", ".qwen"])

function entriesFor(dialect: ClientName, name: string, wanted: InstallTarget, value: Record<string, unknown>): Entries {
  const path = [sectionOf(dialect), name]
  if (!("url" in wanted)) {
    const { command, args: first = [], folder = openFolder[dialect], agent, builtin } = wanted
    const shown = builtin === undefined ? [] : ["--builtin", builtin.join(",")]
    const args = [...first, ...(folder === undefined ? [] : ["-C", folder]), "mcp", "--agent", agent, ...shown]
    return [[path, { ...(dialect === "cursor" ? {} : { type: "stdio" }), command, args }]]
  }
  const entry = (token: string) => ({
    ...(dialect === "cursor" ? {} : { type: "http" }),
    url: wanted.url,
    headers: { Authorization: `Bearer ${token}` },
  })
  if (dialect === "claude") return [[path, entry("${QUARTERMASTER_TOKEN}")]]
  if (dialect === "cursor") return [[path, entry("${env:QUARTERMASTER_TOKEN}")]]
  const inputs = Array.isArray(value["inputs"]) ? (value["inputs"] as unknown[]) : []
  const known = inputs.some((input) => isObject(input) && input["id"] === inputId)
  const asked = { type: "promptString", id: inputId, description: `Token of agent ${wanted.agent}`, password: true }
  return [
    [path, entry(`\${input:${inputId}}`)],
    ...(known ? [] : [[["inputs"], [...inputs, asked]] as Entries[number]]),
  ]
}

/** How a client writes the folder it has open. Claude starts servers in that folder. */
const openFolder: Readonly<Record<ClientName, string | undefined>> = {
  claude: undefined,
  cursor: "${workspaceFolder}",
  vscode: "${workspaceFolder}",
}

const inputId = "quartermaster-token"

function howToToken(dialect: ClientName, agent: string): string {
  const create = `Create a token with 'qm tokens create --agent ${agent} --person me'`
  return dialect === "vscode"
    ? `${create}; VS Code asks for it once and stores it.`
    : `${create}, and set QUARTERMASTER_TOKEN to it before the program starts.`
}

/** Writes atomically and keeps the old file as a backup. Returns where that is. */
function write(file: string, before: string | undefined, after: string, home: string): string | undefined {
  const now = existsSync(file) ? readUpTo(file, 32 * 1024 * 1024).bytes : undefined
  if (now?.toString("utf8") !== before)
    throw refused(file, "This file changed meanwhile. Nothing was written; run the command again.")
  mkdirSync(dirname(file), { recursive: true })
  const backup = now === undefined ? undefined : keepCopy(file, now, home)
  const temporary = `${file}.${process.pid}.tmp`
  try {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0o644
    writeFileSync(temporary, after, { mode: mode & 0o777, flag: "wx", flush: true })
    renameSync(temporary, file)
  } finally {
    rmSync(temporary, { force: true })
  }
  return backup
}

/** Clients keep secrets in this file, so its copy is outside the project, where it cannot be committed. */
function keepCopy(file: string, bytes: Buffer, home: string): string {
  const folder = join(userConfigFolder(home), "backups")
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const name = file.replaceAll(/[^\p{L}\p{N}.-]+/gu, "_").replace(/^_+/, "")
  const copy = freeName(join(folder, name.slice(-120)))
  writeFileSync(copy, bytes, { mode: 0o600, flag: "wx" })
  return copy
}

function freeName(wanted: string): string {
  let name = wanted
  for (let count = 2; existsSync(name); count++) name = `${wanted}.${count}`
  return name
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}
