import { BaseTool } from "./base-tool.ts"

type Fields = Readonly<Record<string, unknown>>

/**
 * Reports whether the author of a tool wrote, in the words of S2 or S3, that it is not dangerous. With an effect or a
 * level of ours, those decide.
 */
export function isHarmlessByAuthor(tool: Fields): boolean {
  const { effect, permission, permissions, dangerous, handler } = tool
  if (effect !== undefined || (permission as { level?: unknown } | undefined)?.level !== undefined) return false
  if (typeof handler === "function") return isWritten(tool, "permissions") && allowsUnasked(permissions)
  return Array.isArray(tool["parameters"]) && dangerous === false && isWritten(tool, "dangerous")
}

/** S2 has two words for it, and both must be there. */
function allowsUnasked(permissions: unknown): boolean {
  if (typeof permissions !== "object" || permissions === null) return false
  const { isDangerous, requireConfirmation } = Object.fromEntries(Object.entries(permissions)) as Fields
  return isDangerous === false && requireConfirmation === false
}

/**
 * Reports whether a field stands in the object itself or in its class. What a base class sets does not count, because
 * it is a default that the author may not know of. Our `BaseTool` sets none in the object, so a class right below it is
 * readable.
 */
function isWritten(tool: Fields, field: string): boolean {
  const own = Object.getPrototypeOf(tool) as object | null
  const base = own === null ? null : (Object.getPrototypeOf(own) as object | null)
  if (base !== null && base !== Object.prototype && base !== BaseTool.prototype) return false
  const isClass = own !== null && own !== Object.prototype && Object.hasOwn(own, "constructor")
  return Object.hasOwn(tool, field) || (isClass && own !== BaseTool.prototype && Object.hasOwn(own, field))
}
