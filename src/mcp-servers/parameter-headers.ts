import type { McpToolDefinition } from "../core/mcp.ts"

/** The characters of a header name. */
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const plainTypes = new Set(["string", "integer", "boolean"])
const headerKey = "x-mcp-header"

/** Reports whether a tool wants some arguments as headers too (protocol of 2026). */
export function hasParameterHeaders(tool: McpToolDefinition): boolean {
  return JSON.stringify(tool.inputSchema ?? {}).includes(`"${headerKey}"`)
}

/**
 * Why a tool's header parameters are invalid, as the end of a sentence; undefined when they are valid. Only properties
 * of plain types, at any depth, may have a header, each with a unique name.
 */
export function headerFlaw(tool: McpToolDefinition): string | undefined {
  const names = new Set<string>()
  return hasParameterHeaders(tool) ? findProblem(tool.inputSchema, true, names) : undefined
}

function findProblem(schema: unknown, isRoot: boolean, names: Set<string>): string | undefined {
  if (typeof schema !== "object" || schema === null) return undefined
  const { [headerKey]: name, type, properties, ...rest } = schema as Record<string, unknown>
  if (name !== undefined) {
    if (isRoot) return `has ${headerKey} where no property is`
    if (typeof name !== "string" || !token.test(name)) return `has ${headerKey} with an invalid header name`
    if (typeof type !== "string" || !plainTypes.has(type))
      return `has ${headerKey} on a property that is no string, integer or boolean`
    if (names.has(name.toLowerCase())) return `has ${headerKey} twice for ${name}`
    names.add(name.toLowerCase())
  }
  for (const property of Object.values(isPlain(properties) ? properties : {})) {
    const problem = findProblem(property, false, names)
    if (problem !== undefined) return problem
  }
  const isMisplaced = Object.values(rest).some(mentions)
  return isMisplaced ? `has ${headerKey} where no property is` : undefined
}

/** Reports whether the key occurs anywhere inside, even in an example. */
function mentions(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false
  return (!Array.isArray(value) && headerKey in value) || Object.values(value).some(mentions)
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
