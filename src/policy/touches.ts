import type { Guards, CheckedTouches, GuardCheckOptions, NamedPathOptions } from "../core/guard.ts"
import type { Touch } from "../core/touches.ts"
import type { CallSession, RegisteredTool } from "../core/tool.ts"

const nothing: CheckedTouches = { touches: { list: [], proved: true }, findings: [] }
const unknown: CheckedTouches = { touches: { list: [], proved: true, unknown: true }, findings: [] }
const failed: CheckedTouches = { touches: { list: [], proved: false }, findings: [] }

/** The touches that a tool declares for a call; undefined if the tool failed to declare them. */
export type DeclaredTouches = readonly Touch[] | undefined

/** Lets the guards check the touches. If the tool failed to declare them, they are not proved. */
export function checkTouches(
  list: DeclaredTouches,
  { tool, input }: { tool: RegisteredTool; input: unknown },
  guards: Guards,
  options: GuardCheckOptions,
): CheckedTouches {
  if (list === undefined) return failed
  const named = namedPathsOf(tool)
  const checked = list.length === 0 ? (named === undefined ? nothing : unknown) : guards.check(list, options)
  if (named === undefined) return checked
  const findings = guards.checkInput(input, named)
  return findings.length === 0 ? checked : { ...checked, findings: [...checked.findings, ...findings] }
}

/** Returns the options for judging the paths in its input; undefined for a tool that declares its touches. */
function namedPathsOf({ namedPaths, touches, type, effect }: RegisteredTool): NamedPathOptions | undefined {
  if (namedPaths !== undefined || touches !== undefined || type === "builtin") return namedPaths
  return type !== "mcp" && (effect === "none" || effect === "read") ? trustedToRead : notTrusted
}

const trustedToRead: NamedPathOptions = { folders: [], onlyReads: true }
const notTrusted: NamedPathOptions = { folders: [], onlyReads: false }

/** Loads what the guards need to check these touches; undefined if nothing must be loaded. */
export function loadGuards(list: DeclaredTouches, guards: Guards): Promise<void> | undefined {
  return list === undefined || list.length === 0 ? undefined : guards.ready(list)
}

/** Asks the tool what this call will touch. */
export function declaredTouches(tool: RegisteredTool, input: unknown, session?: CallSession): DeclaredTouches {
  if (tool.touches === undefined) return none
  try {
    const list = tool.touches(input, session)
    return Array.isArray(list) && list.every(isTouch) ? list : undefined
  } catch {
    return undefined
  }
}

const none: readonly Touch[] = []

function isTouch({ kind, what }: Touch): boolean {
  return touchKinds.includes(kind) && typeof what === "string"
}

const touchKinds: readonly Touch["kind"][] = ["read", "write", "command", "host", "database"]
