import type { Language } from "../../core/language.ts"
import { moduleGroup, type ToolModule } from "../adapters.ts"
import { describeType, nameOf } from "../recognise-tool.ts"

/** A plugin as its file exports it. The entries of `tools` are checked later, in `makePluginTools`. */
export interface ReadPlugin {
  readonly kind: "plugin" | "module" | "tool"
  readonly name: string
  readonly version?: string
  readonly group: string
  readonly description: string
  readonly tools: readonly unknown[]
  readonly module?: ToolModule
  init?(runtime: unknown, config: unknown): unknown
  shutdown?(): unknown
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Recognises a module (S0), a plugin (S3) or a single tool; as default export, as named exports, or as `module.exports`.
 * Throws one error that lists everything that is missing or wrong.
 */
export function readPlugin(exported: unknown, language: Language = "en"): ReadPlugin {
  const candidates = candidatesOf(exported)
  const found =
    candidates.find(isModuleLike) ?? candidates.find(isPluginLike) ?? candidates.find(isToolLike) ?? candidates[0]
  if (found === undefined) throw invalid("plugin", ["it exports nothing"])
  if (Array.isArray(found)) throw invalid("plugin", [bareList])
  if (isModuleLike(found)) return readModule(found, language)
  return !isPluginLike(found) && isToolLike(found) ? readTool(found) : readTools(found)
}

const bareList =
  'it exports a list, and tools need a name that they share, for example: export default { name: "my-tools", version: "1.0.0", tools: [ … ] }'

function readModule(given: Fields, language: Language): ReadPlugin {
  const problems = [
    ...expecting(given, "text", ["name"]),
    ...expecting(given, "function", ["getToolDefinitions", "executeToolCall"]),
    ...expecting(given, "text", ["toolGroupId", "version"], true),
    ...expecting(given, "text or one text per language", ["toolGroupDescription"], true),
    ...expecting(given, "function", ["init", "shutdown"], true),
  ]
  if (problems.length > 0) throw invalid("module", problems)
  const module = given as unknown as ToolModule & { version?: string }
  const { name, version } = module
  const { id: group, description } = moduleGroup(module, language)
  return { ...started(given), kind: "module", name, version, group, description, tools: [], module }
}

function readTools(given: Fields): ReadPlugin {
  const problems = [
    ...expecting(given, "text", ["name", "version"]),
    ...expecting(given, "list", ["tools"]),
    ...expecting(given, "text", ["description"], true),
    ...expecting(given, "function", ["init", "shutdown"], true),
  ]
  if (problems.length > 0) throw invalid("plugin", problems)
  const { name, version, tools, description } = given as { name: string; version: string; tools: unknown[] } & Fields
  const text = typeof description === "string" ? description : `Tools of the plugin ${name}`
  return { ...started(given), kind: "plugin", name, version, group: name, description: text, tools }
}

function readTool(given: Fields): ReadPlugin {
  const named = nameOf(given)
  if (named === undefined) throw invalid("plugin", ["'name' must be a text, and is missing"])
  return { kind: "tool", name: named, group: named, description: `The tool ${named}`, tools: [given] }
}

/** Bound to the object, because they may use `this`. */
function started(given: Fields): Pick<ReadPlugin, "init" | "shutdown"> {
  const { init, shutdown } = given as Pick<ReadPlugin, "init" | "shutdown">
  return {
    ...(init === undefined ? {} : { init: init.bind(given) }),
    ...(shutdown === undefined ? {} : { shutdown: shutdown.bind(given) }),
  }
}

/** The default export before the named ones. Compiled TypeScript has a default of a default in CommonJS. */
function candidatesOf(exported: unknown): Fields[] {
  const fields = isFields(exported) ? exported : undefined
  const first = fields?.["default"]
  const second = isFields(first) ? first["default"] : undefined
  return [second, first, fields].filter(isFields)
}

function isModuleLike(given: Fields): boolean {
  return "executeToolCall" in given || "getToolDefinitions" in given
}

function isPluginLike(given: Fields): boolean {
  return Array.isArray(given["tools"])
}

function isToolLike(given: Fields): boolean {
  return typeof given["execute"] === "function" || typeof given["handler"] === "function"
}

const checks: Readonly<Record<string, (value: unknown) => boolean>> = {
  text: (value) => typeof value === "string" && value.trim() !== "",
  function: (value) => typeof value === "function",
  list: (value) => Array.isArray(value),
  "text or one text per language": (value) =>
    checks["text"]!(value) || (isFields(value) && checks["text"]!(value["en"]) && checks["text"]!(value["zh"])),
}

function expecting(given: Fields, what: string, fields: readonly string[], optional = false): string[] {
  return fields.flatMap((field) => {
    const value = given[field]
    const isAbsent = value === undefined || value === null
    if (checks[what]!(value) || (optional && isAbsent)) return []
    return [`'${field}' must be a ${what}, and is ${isAbsent ? "missing" : describeType(value)}`]
  })
}

function invalid(kind: "plugin" | "module", problems: readonly string[]): Error {
  return new Error(`Invalid ${kind} format: ${problems.join("; ")}.`)
}

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null
}
