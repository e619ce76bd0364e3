import type { McpToolDefinition } from "../../model/mcp.ts"

/** The characters of a header's name. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const plainTypes = new Set(["string", "integer", "boolean"])
const mark = "x-mcp-header"

/** Whether arguments of a tool travel as headers too, which the protocol of 2026 has. */
export function hasParameterHeaders(tool: McpToolDefinition): boolean {
  return JSON.stringify(tool.inputSchema ?? {}).includes(`"${mark}"`)
}

/**
 * Why the headers a tool wants for its arguments cannot be, as the end of a sentence; undefined when they can. Only
 * properties may have one, and properties of properties: of plain types, each with a name of its own.
 */
export function headerFlaw(tool: McpToolDefinition): string | undefined {
  const names = new Set<string>()
  return hasParameterHeaders(tool) ? flawIn(tool.inputSchema, true, names) : undefined
}

function flawIn(schema: unknown, isRoot: boolean, names: Set<string>): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined
  const { [mark]: name, type, properties, ...others } = schema as Record<string, unknown>
  if (name !== undefined) {
    if (isRoot) return `has ${mark} where no property is`
    if (typeof name !== "string" || !token.test(name)) return `has ${mark} with what is no name of a header`
    if (typeof type !== "string" || !plainTypes.has(type)) return `has ${mark} at what is no text, integer or boolean`
    if (names.has(name.toLowerCase())) return `has ${mark} twice for ${name}`
    names.add(name.toLowerCase())
  }
  for (const property of Object.values(isPlain(properties) ? properties : {})) {
    const flaw = flawIn(property, false, names)
    if (flaw !== undefined) return flaw
  }
  const elsewhere = Object.values(others).some(mentions)
  return elsewhere ? `has ${mark} where no property is` : undefined
}

/** Whether a header is wished for anywhere inside. A value that only looks like it, in an example, counts too. */
function mentions(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  return (!Array.isArray(value) && mark in value) || Object.values(value).some(mentions)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
