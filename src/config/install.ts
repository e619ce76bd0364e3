import { copyFileSync, existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { readUpTo } from "./find.ts"
import type { ClientName } from "./clients.ts"
import { JsoncError, readJsonc } from "./jsonc.ts"
import { isObject } from "./merge.ts"
import { ConfigError } from "./config-error.ts"

/**
 * What the client does: start `qm mcp` for an agent, or connect to a running `qm serve`. Without a folder the entry can be
 * shared: it starts in the folder that the client has open.
 */
export type InstallTarget =
  | { command: string; args?: readonly string[]; folder?: string | undefined; agent: string }
  | { url: string; agent: string }

export interface InstallationPlan {
  file: string
  /** The current content; undefined if the file does not exist. */
  before: string | undefined
  after: string
  /** What the person still has to do, a sentence each. */
  next: string[]
  /** Writes the file, unless it has changed since. Returns the path of the backup. */
  write(): string | undefined
}

/** Plans the change to a client's configuration so that it uses Quartermaster. Nothing is written before `write`. */
export function installInto(
  client: ClientName | { path: string },
  name: string,
  wanted: InstallTarget,
  { cwd }: { cwd: string },
): InstallationPlan {
  const given = typeof client === "string" ? join(cwd, places[client]) : resolve(cwd, client.path)
  const file = existsSync(given) ? realpathSync(given) : given
  const before = existsSync(file) ? readUpTo(file, 32 * 1024 * 1024).bytes.toString("utf8") : undefined
  const changed = change(file, before ?? "", (value) => {
    const dialect = typeof client === "string" ? client : dialectOf(file, value)
    return { dialect, entries: entriesFor(dialect, name, wanted, value) }
  })
  return {
    file,
    before,
    after: changed.after,
    next: "url" in wanted ? [howToToken(changed.dialect, wanted.agent)] : [],
    write: () => write(file, before, changed.after),
  }
}

const places: Readonly<Record<ClientName, string>> = {
  claude: ".mcp.json",
  cursor: join(".cursor", "mcp.json"),
  vscode: join(".vscode", "mcp.json"),
}

type Entries = [path: string[], value: unknown][]

function change(
  file: string,
  before: string,
  make: (value: Record<string, unknown>) => { dialect: ClientName; entries: Entries },
): { after: string; dialect: ClientName } {
  try {
    const { value } = readJsonc(before)
    const { dialect, entries } = make(isObject(value) ? value : {})
    const after = entries.reduce((text, [path, entry]) => readJsonc(text).with(path, entry), before)
    return { after, dialect }
  } catch (error) {
    if (!(error instanceof JsoncError)) throw error
    throw refused(file, `This is not valid JSON: ${error.message}. Correct it there first; nothing was written.`)
  }
}

/** VS Code uses the key `servers`, the others `mcpServers`. */
function dialectOf(file: string, value: Record<string, unknown>): ClientName {
  if (isObject(value["mcpServers"])) return "claude"
  if (isObject(value["servers"]) || basename(dirname(file)) === ".vscode") return "vscode"
  return basename(dirname(file)) === ".cursor" ? "cursor" : "claude"
}

function entriesFor(dialect: ClientName, name: string, wanted: InstallTarget, value: Record<string, unknown>): Entries {
  const path = [dialect === "vscode" ? "servers" : "mcpServers", name]
  if (!("url" in wanted)) {
    const { command, args: first = [], folder = openFolder[dialect], agent } = wanted
    const args = [...first, ...(folder === undefined ? [] : ["-C", folder]), "mcp", "--agent", agent]
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

/** Writes atomically and keeps the old file as a backup. */
function write(file: string, before: string | undefined, after: string): string | undefined {
  const now = existsSync(file) ? readUpTo(file, 32 * 1024 * 1024).bytes.toString("utf8") : undefined
  if (now !== before) throw refused(file, "This file changed meanwhile. Nothing was written; run the command again.")
  mkdirSync(dirname(file), { recursive: true })
  const backup = before === undefined ? undefined : freeName(`${file}.bak`)
  if (backup !== undefined) copyFileSync(file, backup)
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

function freeName(wanted: string): string {
  let name = wanted
  for (let count = 2; existsSync(name); count++) name = `${wanted}.${count}`
  return name
}

function refused(file: string, sentence: string): ConfigError {
  return new ConfigError([{ file, key: "", sentence }])
}
