import stringWidth from "fast-string-width"
import { parse, stringify } from "yaml"
import { z } from "zod"
import { valueAtPath } from "../../schema/problems.ts"
import { examples } from "../init.ts"
import { configSchema, defaults } from "../schema.ts"

/** One key of the configuration as docs/CONFIGURATION.md shows it. */
export interface DocumentedKey {
  /** `tools.shell.mode`, `org.roles[].name`, `mcpServers.<name>.url`. */
  path: string
  schema: z.ZodType
  sentence: string
  /** A value that can be written there; undefined when nobody has given one. */
  example: unknown
}

interface Section {
  path: string
  sentence: string
  keys: (DocumentedKey & { section?: string })[]
  /** A complete configuration with this section. */
  yaml?: string
}

const exampleConfigs = Object.entries(examples).map(([path, text]) => ({ path, text: inContext(path, text) }))
const exampleValues = collectExamples()

/** Every section in reading order. A section that several keys share is written once. */
export function configurationSections(): Section[] {
  const owners = new Map<z.ZodType, string>()
  const open: { path: string; sentence: string; shape: Record<string, z.ZodType> }[] = [
    { path: "", sentence: "", shape: configSchema.shape },
  ]
  const sections: Section[] = []
  // Breadth first, so that the shortest path to a section owns it.
  for (let current = open.shift(); current !== undefined; current = open.shift()) {
    const { path: parent, sentence, shape } = current
    const keys = Object.entries(shape).map(([name, schema]) => {
      const path = parent === "" ? name : `${parent}.${name}`
      const key = { path, schema, sentence: descriptionOf(schema), example: exampleValues.get(schema) }
      const inner = innerSection(path, schema)
      if (inner === undefined) return key
      const owner = owners.get(inner.object) ?? inner.path
      if (!owners.has(inner.object)) {
        owners.set(inner.object, owner)
        open.push({ path: inner.path, sentence: key.sentence, shape: inner.shape })
      }
      return { ...key, section: owner }
    })
    const example = yamlOf(parent, keys)
    const isShown = sections.some(({ yaml }) => yaml !== undefined && yaml === example.yaml)
    sections.push({ path: parent, sentence, keys, ...(isShown ? {} : example) })
  }
  return inReadingOrder(sections, "")
}

function inReadingOrder(sections: readonly Section[], path: string): Section[] {
  const here = sections.find((section) => section.path === path)!
  const inner = here.keys.filter((key) => key.section?.startsWith(key.path))
  return [here, ...inner.flatMap((key) => inReadingOrder(sections, key.section!))]
}

export function configurationPage(introduction: string): string {
  const parts = configurationSections().map(({ path, sentence, keys, yaml }) => {
    const heading =
      path === ""
        ? ["## The keys of a file"]
        : [`${"#".repeat(depthOf(path) + 1)} \`${path}\``, escapeMarkdown(sentence)]
    const block = yaml === undefined ? [] : ["```yaml\n" + yaml + "```"]
    return [...heading, ...block, tableOf(keys)].join("\n\n")
  })
  return `${[introduction.trim(), ...parts].join("\n\n")}\n`
}

function tableOf(keys: Section["keys"]): string {
  const rows = keys.map(({ path, schema, sentence, example, section }) => {
    const name = path.split(".").at(-1)!
    const fallback: unknown = valueAtPath(defaults, path.split("."))
    const isNamed = fallback === undefined || typeof fallback === "object" || sentence.includes("(default")
    const usual = isNamed ? "" : `; default \`${String(fallback)}\``
    const shown = section === undefined ? `\`${name}: ${flow(example)}\`` : `[\`${section}\`](#${slug(section)})`
    return [`\`${name}\``, escapeMarkdown(sentence), `${valueText(jsonSchemaOf(schema))}${usual}`, shown]
  })
  const cells = [["key", "what it does", "value", "example"], ...rows].map((row) =>
    row.map((cell) => cell.replaceAll("|", String.raw`\|`)),
  )
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => stringWidth(row[column] ?? ""))))
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell + " ".repeat(widths[column]! - stringWidth(cell))).join(" | ")} |`
  const rule = widths.map((width) => "-".repeat(width))
  return [line(cells[0]!), line(rule), ...cells.slice(1).map(line)].join("\n")
}

/** Describes the valid values, in words. */
function valueText(json: z.core.JSONSchema.BaseSchema): string {
  const { minimum, exclusiveMinimum, exclusiveMaximum, maximum = Number.MAX_SAFE_INTEGER } = json
  if (json.enum !== undefined) return listed(json.enum.map((value) => `\`${String(value)}\``))
  if (json.anyOf !== undefined)
    return listed([...new Set(json.anyOf.map((one) => valueText(one as z.core.JSONSchema.BaseSchema)))])
  if (json.type === "null") return "`null`"
  if (json.type === "boolean") return "`true` or `false`"
  if (json.type === "string") return json.format === "uri" ? "URL" : "text"
  if (json.type === "array") return isTexts(json.items) ? "list of texts" : "list"
  if (json.type === "object" && json.properties !== undefined) return "section"
  if (json.type === "object") return isTexts(json.additionalProperties) ? "names with texts" : "names with values"
  if (json.type !== "integer" && json.type !== "number") return "any value"
  const kind = json.type === "integer" ? "whole number" : "number"
  if (exclusiveMaximum !== undefined) return `${kind} between ${exclusiveMinimum} and ${exclusiveMaximum}`
  if (exclusiveMinimum !== undefined) return `${kind} above ${exclusiveMinimum}`
  if (minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER) return kind
  return maximum < Number.MAX_SAFE_INTEGER ? `${kind}, ${minimum} to ${maximum}` : `${kind}, at least ${minimum}`
}

function isTexts(items: unknown): boolean {
  return typeof items === "object" && (items as { type?: unknown } | null)?.type === "string"
}

function listed(parts: readonly string[]): string {
  return parts.length < 2 ? parts.join("") : `${parts.slice(0, -1).join(", ")} or ${parts.at(-1)}`
}

function jsonSchemaOf(schema: z.ZodType): z.core.JSONSchema.BaseSchema {
  return z.toJSONSchema(schema, { io: "input", unrepresentable: "any" })
}

/** The section a key holds, directly, in a list or by free names. All forms of a union are one section. */
function innerSection(path: string, schema: z.ZodType) {
  const found = objectsIn(schema, path)
  const [first] = found
  if (first === undefined) return undefined
  return {
    ...first,
    shape: Object.assign({}, ...found.map(({ object }) => shapeOf(object))) as Record<string, z.ZodType>,
  }
}

/** The keys of a section; what may stand under other names is `<name>`. */
function shapeOf({ shape, def: { catchall } }: z.ZodObject): Record<string, unknown> {
  return unwrap(catchall) instanceof z.ZodObject ? { ...shape, "<name>": catchall } : shape
}

function objectsIn(schema: unknown, path: string): { path: string; object: z.ZodObject }[] {
  const bare = unwrap(schema)
  if (bare instanceof z.ZodObject) return [{ path, object: bare }]
  if (bare instanceof z.ZodArray) return objectsIn(bare.element, `${path}[]`)
  if (bare instanceof z.ZodRecord) return objectsIn(bare.valueType, `${path}.<name>`)
  if (bare instanceof z.ZodUnion) return bare.options.flatMap((option) => objectsIn(option, path))
  return []
}

function descriptionOf(schema: unknown): string {
  if (!(schema instanceof z.ZodType)) return ""
  return schema.description ?? (isWrapper(schema) ? descriptionOf(schema.unwrap()) : "")
}

function unwrap(schema: unknown): unknown {
  return isWrapper(schema) ? unwrap(schema.unwrap()) : schema
}

function isWrapper(schema: unknown): schema is z.ZodOptional | z.ZodNullable {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
}

/** The first value that an example, otherwise the defaults, has for each key. */
function collectExamples(): Map<z.ZodType, unknown> {
  const values = new Map<z.ZodType, unknown>()
  const visit = (schema: unknown, value: unknown): void => {
    const bare = unwrap(schema)
    if (bare instanceof z.ZodUnion) for (const option of bare.options) visit(option, value)
    if (bare instanceof z.ZodArray && Array.isArray(value)) for (const item of value) visit(bare.element, item)
    if (typeof value !== "object" || value === null || Array.isArray(value)) return
    for (const [key, part] of Object.entries(value)) {
      const inner: unknown = (bare instanceof z.ZodObject ? bare.shape[key] : undefined) ?? freeValueOf(bare)
      if (inner instanceof z.ZodType && !values.has(inner)) values.set(inner, part)
      visit(inner, part)
    }
  }
  for (const { text } of exampleConfigs) visit(configSchema, parse(text))
  visit(configSchema, defaults)
  return values
}

/** The schema of the values under free names. */
function freeValueOf(schema: unknown): unknown {
  if (schema instanceof z.ZodRecord) return schema.valueType
  return schema instanceof z.ZodObject ? schema.def.catchall : undefined
}

/** The example written for exactly this section, otherwise one made of its plain keys. */
function yamlOf(path: string, keys: Section["keys"]): { yaml?: string } {
  const plainPath = path.replace(/\[\]$|\.<name>$/, "")
  const written = exampleConfigs.find((one) => one.path === plainPath)
  if (written !== undefined) return { yaml: `${written.text}\n` }
  const plain = keys.filter((key) => key.section === undefined && key.example !== undefined)
  if (path === "" || depthOf(path) > 1 || plain.length === 0) return {}
  const lines = plain.map((key) => `  ${key.path.split(".").at(-1)}: ${flow(key.example)}`)
  return { yaml: `${path}:\n${lines.join("\n")}\n` }
}

/** The lines of an example under the keys above it. */
function inContext(path: string, text: string): string {
  const steps = path.split(".")
  const above = steps.slice(0, -1).map((step, depth) => `${"  ".repeat(depth)}${step}:`)
  const indent = "  ".repeat(steps.length - 1)
  return [...above, ...`${steps.at(-1)}:${text}`.split("\n").map((line) => indent + line)].join("\n")
}

function flow(value: unknown): string {
  const text = stringify(value, { collectionStyle: "flow", lineWidth: 0 }).trim()
  return text.replaceAll("[ ", "[").replaceAll(" ]", "]")
}

function depthOf(path: string): number {
  return Math.min(path.split(".").filter((step) => step !== "<name>").length, 2)
}

/** `<id>` would be read as HTML, `*` as emphasis. */
function escapeMarkdown(text: string): string {
  return text.replace(/[<*]/g, String.raw`\$&`)
}

function slug(heading: string): string {
  return heading.toLowerCase().replace(/[^a-z0-9_-]/g, "")
}
