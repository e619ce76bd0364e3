import { isObject } from "../lib/is-object.ts"
import { isSecretName } from "../lib/secret-names.ts"
import { shellWord } from "../lib/shell-word.ts"
import { escapeControls } from "./config-error.ts"

/*
 * Describes a configuration file, as lines for the person who decides about trusting it. All of it is taken from the
 * text as it is written, so that no value of a variable is shown.
 */

/** Describes a trusted setting, one line for each rule, server, plugin, role and agent in it. Secrets are masked. */
export function trustLines(key: string, value: unknown): string[] {
  return linesFor(key, value).map(escapeControls)
}

function linesFor(key: string, value: unknown): string[] {
  if (/^(tools\.)?mcpServers$/.test(key)) return serverLines(key, value)
  if (key === "databases") return databaseLines(value)
  if (key === "notify") return listOf(value).map(noticeLine)
  if (key === "plugins" || key === "modules") return pluginLines(key, value)
  if (key === "rules") return rulesInOrder(listOf(value)).map(ruleLine)
  if (/^rules\[\d+\]$/.test(key)) return [ruleLine(value)]
  if (key === "org" && isObject(value)) return Object.entries(value).flatMap(([kind, list]) => entryLines(kind, list))
  return [`${key}: ${masked(key, value)}`]
}

/** The programs, addresses and files that a configuration would start, connect to or load. */
export function startLines(value: unknown): string[] {
  if (!isObject(value)) return []
  const tools = isObject(value["tools"]) ? value["tools"] : {}
  return [
    ...serverLines("mcpServers", value["mcpServers"]),
    ...serverLines("tools.mcpServers", tools["mcpServers"]),
    ...databaseLines(value["databases"]),
    ...listOf(value["notify"]).map(noticeLine),
    ...["plugins", "modules"].flatMap((key) => pluginLines(key, value[key])),
  ].map(escapeControls)
}

function serverLines(key: string, servers: unknown): string[] {
  const entries: [string, unknown][] = Array.isArray(servers)
    ? servers.map((entry) => [isObject(entry) ? String(entry["name"]) : "", entry])
    : Object.entries(isObject(servers) ? servers : {})
  return entries.flatMap(([name, entry]) => {
    if (!isObject(entry)) return []
    const { command, args, url, type: _type, name: _name, ...rest } = entry
    const more = Object.keys(rest).length === 0 ? "" : ` with ${masked("", rest)}`
    return [`${startText(url, [command, ...listOf(args)])}${more} (${key}.${name})`]
  })
}

/** A password that is written in an address is not shown. */
function databaseLines(databases: unknown): string[] {
  return Object.entries(isObject(databases) ? databases : {}).map(([name, entry]) => {
    const { url, ...rest } = isObject(entry) ? entry : {}
    const more = Object.keys(rest).length === 0 ? "" : ` with ${masked("", rest)}`
    const shown = String(url)
      .replace(/(:\/\/[^/?#]*?:).*@/s, "$1***@")
      .replace(/([?&]password=)[^&#]*/g, "$1***")
    return `opens the database: ${shown}${more} (databases.${name})`
  })
}

function noticeLine(notice: unknown): string {
  const { webhook, command } = isObject(notice) ? notice : {}
  return `${startText(webhook, command)} (notify)`
}

function pluginLines(key: string, given: unknown): string[] {
  const paths = isObject(given)
    ? Object.keys(given)
    : listOf(given).map((entry) => String(isObject(entry) ? entry["path"] : entry))
  return paths.map((path) => `starts the program: ${path} (${key})`)
}

function startText(address: unknown, command: unknown): string {
  if (typeof address === "string") return `connects to: ${address}`
  const words = listOf(command).length === 0 ? [command] : listOf(command)
  return `starts the program: ${words.map((word) => shellWord(String(word))).join(" ")}`
}

const verdicts = ["allow", "ask", "deny"]

/** Allow rules first: they are what trust is about. */
function rulesInOrder(rules: readonly unknown[]): unknown[] {
  const rank = (rule: unknown) => verdicts.findIndex((verdict) => isObject(rule) && rule[verdict] !== undefined)
  return rules.toSorted((one, other) => rank(one) - rank(other))
}

/** `allow write_file, touching write:docs/**: Documentation is reviewed.` */
function ruleLine(rule: unknown): string {
  if (!isObject(rule)) return `rule ${masked("", rule)}`
  const { because, examples: _examples, ...conditions } = rule
  const parts = Object.entries(conditions).map(([key, value]) => `${key} ${wordsOf(value)}`)
  return `${parts.join(", ")}: ${wordsOf(because)}`
}

function entryLines(kind: string, list: unknown): string[] {
  if (!Array.isArray(list)) return [`org.${kind}: ${masked(kind, list)}`]
  const one = kind === "people" ? "person" : kind.replace(/s$/, "")
  return list.map((entry: unknown) => {
    if (!isObject(entry)) return `${one} ${masked("", entry)}`
    const [name, ...rest] = Object.entries(entry)
    const more = rest.map(([key, value]) => `, ${key} ${isSecretName(key) ? masked(key, value) : wordsOf(value)}`)
    return `${one} ${wordsOf(name?.[1])}${more.join("")}`
  })
}

/** A text as it is, a list of texts with commas, everything else as JSON. */
function wordsOf(value: unknown): string {
  const isList = Array.isArray(value) && value.length > 0 && value.every((part) => typeof part === "string")
  if (isList) return value.join(" or ")
  return typeof value === "string" ? value : masked("", value)
}

/** A reference to a variable is no secret and is shown. */
function masked(place: string, value: unknown): string {
  const own = /[^.]*$/.exec(place)![0]
  return (
    JSON.stringify(value, (key, part: unknown) => {
      const isSecret = typeof part === "string" && isSecretName(key || own) && !/^[^$]*\$\{\w+\}$/.test(part)
      return isSecret ? "***" : part
    }) ?? ""
  )
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
