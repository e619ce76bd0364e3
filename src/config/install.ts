import { isObject } from "../lib/is-object.ts"
import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { basename, dirname, join, resolve } from "node:path"
import { clientPlaces } from "./client-places.ts"
import { findHook, type FileEdit, type FoundHook } from "./client-hooks.ts"
import { readUpTo, userConfigFolder } from "./find.ts"
import type { ClientName } from "./clients.ts"
import { isOurselves } from "./import-servers.ts"
import { JsoncError, readJsonc } from "./jsonc.ts"
import { readToml, TomlError, withoutTable, withTable } from "./toml.ts"
import { beforeInstalled, forgetInstalled, rememberInstalled } from "./installed.ts"
import { ConfigError } from "./config-error.ts"

/**
 * The client's way to connect: start `qm mcp` for an agent, or connect to a running `qm serve`. Without a folder the
 * entry can be shared: it starts in the folder that the client has open.
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
  /** The person's remaining steps, a sentence each. */
  next: string[]
  /** Writes the file, unless it has changed since. Returns the path of the backup. */
  write(): string | undefined
}

/**
 * Plans the change to a client's configuration so that it uses Quartermaster, and no longer starts the servers in
 * `remove` itself. `more` is what else changes in the same file. Nothing is written before `write`.
 */
export function installInto(
  client: ClientName | { path: string },
  name: string,
  wanted: InstallTarget,
  { cwd, home, remove = [], more }: { cwd: string; home: string; remove?: readonly string[]; more?: FileEdit },
): InstallationPlan {
  const given = typeof client === "string" ? clientPlaces[client].file(cwd, home) : resolve(cwd, client.path)
  const file = existsSync(given) ? realpathSync(given) : given
  const before = readText(file)
  const changed =
    client === "codex"
      ? changeToml(file, before ?? "", name, wanted, remove)
      : change(file, before ?? "", (value) => {
          const dialect = typeof client === "string" ? client : dialectOf(file, value)
          const { section } = clientPlaces[dialect]
          const others = otherServers(sectionIn(value, section), name)
          const removed = others.filter((each) => remove.includes(each)).map((each) => [...section, each])
          return { dialect, entries: entriesFor(dialect, name, wanted, value), removed, others }
        })
  const isSame = more !== undefined && resolve(more.file) === resolve(given)
  const after = isSame ? edited(file, changed.after, more.edit) : changed.after
  return {
    file,
    before,
    after,
    others: changed.others.filter((each) => !remove.includes(each)),
    next: "url" in wanted ? [howToToken(changed.dialect, wanted.agent)] : [],
    write: () => write(file, before, after, home),
  }
}

/** Plans the change to another file of a client, its hooks for example. */
export function planFile({ file, edit }: FileEdit, home: string): InstallationPlan {
  const place = existsSync(file) ? realpathSync(file) : file
  const before = readText(place)
  const after = edited(place, before ?? "", edit)
  return { file: place, before, after, others: [], next: [], write: () => write(place, before, after, home) }
}

/** Plans to take out our hooks of a file of their own. */
export function removeHooksFrom({ file, edit }: FileEdit, home: string): InstallationPlan {
  const place = existsSync(file) ? realpathSync(file) : file
  return planFile({ file, edit: (before) => beforeInstalled(place, before, home) ?? wasNothing(edit(before)) }, home)
}

/** A file that has nothing left but what a hooks file begins with was made by us. */
function wasNothing(text: string): string {
  const bare = text.replaceAll(/\s/g, "")
  return bare === "{}" || bare === '{"version":1}' ? "" : text
}

/** Plans to take out what `installInto` has put in: our entry, whatever its name, and nothing else. */
export function removeFrom(client: ClientName, cwd: string, home: string, more?: FileEdit): InstallationPlan {
  const file = clientPlaces[client].file(cwd, home)
  const { section, isToml } = clientPlaces[client]
  const edit = (before: string) => {
    const value = before === "" ? {} : isToml ? readToml(before) : readJsonc(before).value
    const servers = sectionIn(isObject(value) ? value : {}, section)
    const ours = Object.entries(isObject(servers) ? servers : {}).filter(
      ([, entry]) => isObject(entry) && isOurEntry(entry),
    )
    const whole = beforeInstalled(existsSync(file) ? realpathSync(file) : file, before, home)
    if (whole !== undefined) return whole ?? ""
    const cut = ours.reduce(
      (text, [name]) =>
        isToml ? withoutTable(text, [section[0] ?? "", name]) : readJsonc(text).without([...section, name]),
      before,
    )
    const rest = more !== undefined && resolve(more.file) === resolve(file) ? more.edit(cut) : cut
    return isToml || ours.length === 0 ? rest : withoutEmpty(rest, section)
  }
  return planFile({ file, edit }, home)
}

function withoutEmpty(text: string, path: readonly string[]): string {
  const json = readJsonc(text)
  const left = sectionIn(isObject(json.value) ? json.value : {}, path)
  return isObject(left) && Object.keys(left).length === 0 ? json.without(path) : text
}

/** The servers that the client starts: ours and those of others. */
export function serversOf(client: ClientName, cwd: string, home: string): { ours: string[]; others: string[] } {
  const { section, isToml } = clientPlaces[client]
  const file = clientPlaces[client].file(cwd, home)
  let value: unknown = {}
  edited(file, readText(file) ?? "", (text) => {
    value = text.trim() === "" ? {} : isToml ? readToml(text) : readJsonc(text).value
    return text
  })
  const servers = sectionIn(isObject(value) ? value : {}, section)
  const all = Object.entries(isObject(servers) ? servers : {})
  const isOwn = ([, entry]: [string, unknown]) => isObject(entry) && isOurEntry(entry)
  return {
    ours: all.filter(isOwn).map(([name]) => name),
    others: all.filter((each) => !isOwn(each)).map(([name]) => name),
  }
}

/** Finds the client's start of our hook for calls. Undefined where it has none. */
export function hookOf(client: ClientName, cwd: string): FoundHook | undefined {
  try {
    return findHook(client, cwd, (file) => readText(file) ?? "")
  } catch (error) {
    if (error instanceof JsoncError) throw refused(`hooks of ${client}`, `This is not valid JSON: ${error.message}.`)
    throw error
  }
}

/** opencode writes program and arguments as one list. */
function isOurEntry(entry: Record<string, unknown>): boolean {
  const { command } = entry
  return isOurselves(Array.isArray(command) ? { args: command } : entry)
}

function readText(file: string): string | undefined {
  return existsSync(file) ? readUpTo(file, 32 * 1024 * 1024).bytes.toString("utf8") : undefined
}

function edited(file: string, before: string, edit: (before: string) => string): string {
  try {
    return edit(before)
  } catch (error) {
    if (error instanceof JsoncError || error instanceof TomlError)
      throw refused(file, `This file cannot be changed: ${error.message}. Correct it there first; nothing was written.`)
    throw error
  }
}

function changeToml(
  file: string,
  before: string,
  name: string,
  wanted: InstallTarget,
  remove: readonly string[],
): Pick<Change, "dialect" | "others"> & { after: string } {
  const dialect = "codex"
  const [section = ""] = clientPlaces[dialect].section
  let others: string[] = []
  const after = edited(file, before, (text) => {
    others = otherServers(readToml(text)[section], name)
    const entry =
      "url" in wanted
        ? { url: wanted.url, bearer_token_env_var: "QUARTERMASTER_TOKEN", required: true }
        : entryOf(dialect, wanted)
    const cut = others
      .filter((each) => remove.includes(each))
      .reduce((rest, each) => withoutTable(rest, [section, each]), text)
    return withTable(cut, [section, name], entry)
  })
  return { dialect, others, after }
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

function sectionIn(value: Record<string, unknown>, path: readonly string[]): unknown {
  return path.reduce((at: unknown, step) => (isObject(at) && Object.hasOwn(at, step) ? at[step] : undefined), value)
}

function otherServers(section: unknown, ours: string): string[] {
  if (!isObject(section)) return []
  return Object.entries(section).flatMap(([name, entry]) =>
    name === ours || (isObject(entry) && isOurEntry(entry)) ? [] : [name],
  )
}

/** Returns the client whose shape a file has. Other shapes are refused: the client would not read what we write. */
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

/** The entry of a server that the client starts. */
function entryOf(dialect: ClientName, wanted: Extract<InstallTarget, { command: string }>): Record<string, unknown> {
  const place = clientPlaces[dialect]
  const { command, args: first = [], folder = place.openFolder, agent, builtin } = wanted
  const shown = builtin === undefined ? [] : ["--builtin", builtin.join(",")]
  const args = [...first, ...(folder === undefined ? [] : ["-C", folder]), "mcp", "--agent", agent, ...shown]
  return place.entry(command, args)
}

function entriesFor(dialect: ClientName, name: string, wanted: InstallTarget, value: Record<string, unknown>): Entries {
  const path = [...clientPlaces[dialect].section, name]
  if (!("url" in wanted)) return [[path, entryOf(dialect, wanted)]]
  const headers = (token: string) => ({ url: wanted.url, headers: { Authorization: `Bearer ${token}` } })
  const entry = (token: string) => ({ type: "http", ...headers(token) })
  switch (dialect) {
    case "cursor":
      return [[path, headers("${env:QUARTERMASTER_TOKEN}")]]
    case "opencode":
      return [[path, { type: "remote", ...headers("{env:QUARTERMASTER_TOKEN}"), enabled: true }]]
    case "gemini":
    case "qwen":
      return [[path, { httpUrl: wanted.url, headers: headers("$QUARTERMASTER_TOKEN").headers }]]
    case "vscode":
      break
    default:
      return [[path, entry("${QUARTERMASTER_TOKEN}")]]
  }
  const inputs = Array.isArray(value["inputs"]) ? (value["inputs"] as unknown[]) : []
  const known = inputs.some((input) => isObject(input) && input["id"] === inputId)
  const asked = { type: "promptString", id: inputId, description: `Token of agent ${wanted.agent}`, password: true }
  return [
    [path, entry(`\${input:${inputId}}`)],
    ...(known ? [] : [[["inputs"], [...inputs, asked]] as Entries[number]]),
  ]
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
  if (after === "") {
    rmSync(file, { force: true })
    forgetInstalled(file, home)
    return backup
  }
  const temporary = `${file}.${process.pid}.tmp`
  try {
    const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0o644
    writeFileSync(temporary, after, { mode: mode & 0o777, flag: "wx", flush: true })
    renameSync(temporary, file)
    rememberInstalled(file, before, after, home)
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
