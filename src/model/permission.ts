/** What a tool does to the world. */
export const effects = ["none", "read", "write", "execute", "network", "communicate"] as const
export type Effect = (typeof effects)[number]

/** Public runs, moderate asks and can be remembered, sensitive asks every time. */
export const ToolPermissionLevel = { PUBLIC: "public", MODERATE: "moderate", SENSITIVE: "sensitive" } as const
export type ToolPermissionLevel = (typeof ToolPermissionLevel)[keyof typeof ToolPermissionLevel]

/** *asc*: a larger level has more rights (S2's code). *desc*: a smaller one has (level 0 is the person on top). */
export type LevelOrder = "asc" | "desc"

export type ResultApproval = "never" | "on-error" | "always"

export interface RateLimit {
  maxCallsPerMinute?: number | undefined
  maxCallsPerHour?: number | undefined
}

/** What a tool's author says about who may use it. Every field is optional. */
export interface ToolPermission {
  level?: ToolPermissionLevel | undefined
  /** True asks even for public tools; false never lowers sensitive, dangerous or a rule. */
  requireExecutionApproval?: boolean | undefined
  requireResultApproval?: ResultApproval | undefined
  dangerous?: boolean | undefined
  /** The same as `dangerous`, in S2's word. */
  requireConfirmation?: boolean | undefined
  allowedRoles?: readonly string[] | undefined
  allowedDepartments?: readonly string[] | undefined
  minLevel?: number | undefined
  rateLimit?: RateLimit | undefined
}

/** The same with nothing left open. */
export interface Permission {
  readonly level: ToolPermissionLevel
  readonly requireExecutionApproval?: boolean | undefined
  readonly requireResultApproval: ResultApproval
  /** Empty means every role. */
  readonly allowedRoles: readonly string[]
  /** Empty means every department. */
  readonly allowedDepartments: readonly string[]
  /** Undefined means no level is asked for. */
  readonly minLevel?: number | undefined
  readonly rateLimit: RateLimit
}

const levels = ["public", "moderate", "sensitive"] as const
const resultApprovals = ["never", "on-error", "always"] as const

/** Fills in what the author left open: the effect decides the level, and what asks to be confirmed is sensitive. */
export function fillPermission(given: ToolPermission = {}, effect?: Effect): Permission {
  const confirmed = given.dangerous === true || given.requireConfirmation === true
  return {
    level: confirmed ? "sensitive" : (given.level ?? levelOfEffect(effect)),
    ...(given.requireExecutionApproval === undefined
      ? {}
      : { requireExecutionApproval: given.requireExecutionApproval }),
    requireResultApproval: given.requireResultApproval ?? "never",
    allowedRoles: given.allowedRoles ?? [],
    allowedDepartments: given.allowedDepartments ?? [],
    minLevel: given.minLevel,
    rateLimit: given.rateLimit ?? {},
  }
}

/** What is wrong with a permission, as a sentence. A word nobody knows would ask nobody. */
export function permissionMistake(given: ToolPermission): string | undefined {
  const { level, requireResultApproval, allowedRoles, allowedDepartments, minLevel, rateLimit = {} } = given
  if (level !== undefined && !levels.includes(level)) return `its level must be one of: ${levels.join(", ")}.`
  if (requireResultApproval !== undefined && !resultApprovals.includes(requireResultApproval)) {
    return `requireResultApproval must be one of: ${resultApprovals.join(", ")}.`
  }
  for (const names of [allowedRoles, allowedDepartments]) {
    if (names !== undefined && !Array.isArray(names))
      return "allowedRoles and allowedDepartments must be lists of names."
  }
  for (const number of [minLevel, rateLimit.maxCallsPerMinute, rateLimit.maxCallsPerHour]) {
    if (number !== undefined && !Number.isFinite(number)) return "minLevel and the rate limits must be numbers."
  }
  return undefined
}

/** The strictest of two permissions in every field: what a tool keeps when it covers another of its name. */
export function strictest(one: Permission, other: Permission, order: LevelOrder = "asc"): Permission {
  const asks = one.requireExecutionApproval === true || other.requireExecutionApproval === true
  const quiet = one.requireExecutionApproval === false && other.requireExecutionApproval === false
  return {
    level: later(levels, one.level, other.level),
    ...(asks ? { requireExecutionApproval: true } : quiet ? { requireExecutionApproval: false } : {}),
    requireResultApproval: later(resultApprovals, one.requireResultApproval, other.requireResultApproval),
    allowedRoles: narrower(one.allowedRoles, other.allowedRoles),
    allowedDepartments: narrower(one.allowedDepartments, other.allowedDepartments),
    minLevel: (order === "asc" ? larger : smaller)(one.minLevel, other.minLevel),
    rateLimit: {
      maxCallsPerMinute: smaller(one.rateLimit.maxCallsPerMinute, other.rateLimit.maxCallsPerMinute),
      maxCallsPerHour: smaller(one.rateLimit.maxCallsPerHour, other.rateLimit.maxCallsPerHour),
    },
  }
}

function levelOfEffect(effect: Effect | undefined): ToolPermissionLevel {
  if (effect === "none" || effect === "read") return "public"
  return effect === undefined || effect === "execute" ? "sensitive" : "moderate"
}

function later<T>(order: readonly T[], one: T, other: T): T {
  return order.indexOf(one) >= order.indexOf(other) ? one : other
}

/** A name no role or department can have: what two lists without a common entry leave is nobody. */
export const nobody = "\u0000nobody"

function narrower(one: readonly string[], other: readonly string[]): readonly string[] {
  if (one.length === 0) return other
  if (other.length === 0) return one
  const both = one.filter((name) => other.includes(name))
  return both.length === 0 ? [nobody] : both
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined) return other
  return other === undefined ? one : Math.min(one, other)
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined) return other
  return other === undefined ? one : Math.max(one, other)
}
