/** The kind of effect a tool has outside the process. */
export const effects = ["none", "read", "write", "execute", "network", "communicate"] as const
export type Effect = (typeof effects)[number]

/** *public* runs, *moderate* asks a person who may have the answer remembered, *sensitive* asks every time. */
export const ToolPermissionLevel = { PUBLIC: "public", MODERATE: "moderate", SENSITIVE: "sensitive" } as const
export type ToolPermissionLevel = (typeof ToolPermissionLevel)[keyof typeof ToolPermissionLevel]

/** *asc*: a larger level has more rights. *desc*: a smaller one has, with 0 at the top. */
export type LevelOrder = "asc" | "desc"

/** The condition on which a person must release the result before the model reads it. */
export type ResultApproval = "never" | "on-error" | "always"

export interface RateLimit {
  maxCallsPerMinute?: number
  maxCallsPerHour?: number
}

/**
 * The permission of a tool: who may use it and when a person is asked. Every field is optional.
 *
 * ```ts
 * permission: { level: "sensitive", allowedRoles: ["developer"], rateLimit: { maxCallsPerMinute: 10 } }
 * ```
 */
export interface ToolPermission {
  /** Default: by the tool's effect. none and read are public, execute and unknown sensitive, the others moderate. */
  level?: ToolPermissionLevel
  /** True asks even for a public tool. False stops a moderate tool from asking; it never overrides sensitive, dangerous or a rule. */
  requireExecutionApproval?: boolean
  /** `true` means always, `false` never. */
  requireResultApproval?: ResultApproval | boolean
  /** True makes the tool sensitive. */
  dangerous?: boolean
  /** The same as `dangerous`. */
  requireConfirmation?: boolean
  /** Names or ids, in any case. Empty or left out: every role. */
  allowedRoles?: readonly string[]
  /** Empty or left out: every department. */
  allowedDepartments?: readonly string[]
  /** The level an agent needs. */
  minLevel?: number
  /** Per agent. */
  rateLimit?: RateLimit
}

/** The source of each field of a tool's permission that the configuration sets: `quartermaster.yml:12 tools.…`. */
export type PermissionSources = Readonly<Partial<Record<keyof ToolPermission, string>>>

/** A `ToolPermission` with all defaults filled in. */
export interface Permission {
  readonly level: ToolPermissionLevel
  readonly requireExecutionApproval?: boolean
  /** True for `dangerous` or `requireConfirmation`: then shell mode `sandbox` does not replace the approval. */
  readonly confirmed?: boolean
  readonly requireResultApproval: ResultApproval
  /** Empty means every role. */
  readonly allowedRoles: readonly string[]
  /** Empty means every department. */
  readonly allowedDepartments: readonly string[]
  /** Undefined means any level. */
  readonly minLevel?: number
  readonly rateLimit: RateLimit
}

const levels = ["public", "moderate", "sensitive"] as const
const resultApprovals = ["never", "on-error", "always"] as const

/** Fills in the defaults: the effect decides the level, and a tool that must be confirmed is sensitive. */
export function fillPermission(
  given: ToolPermission & Pick<Permission, "confirmed"> = {},
  effect?: Effect,
): Permission {
  const confirmed = given.dangerous === true || given.requireConfirmation === true || given.confirmed === true
  return {
    level: confirmed ? "sensitive" : (given.level ?? levelOfEffect(effect)),
    ...(given.requireExecutionApproval === undefined
      ? {}
      : { requireExecutionApproval: given.requireExecutionApproval }),
    ...(confirmed ? { confirmed } : {}),
    requireResultApproval: resultApprovalOf(given.requireResultApproval),
    allowedRoles: given.allowedRoles ?? [],
    allowedDepartments: given.allowedDepartments ?? [],
    minLevel: given.minLevel,
    rateLimit: given.rateLimit ?? {},
  }
}

function resultApprovalOf(given: ToolPermission["requireResultApproval"] = "never"): ResultApproval {
  return typeof given === "boolean" ? (given ? "always" : "never") : given
}

/** Describes an invalid permission, in a sentence. An unknown level must not pass: it would ask no one. */
export function permissionMistake(given: ToolPermission): string | undefined {
  const { level, requireResultApproval, allowedRoles, allowedDepartments, minLevel, rateLimit = {} } = given
  if (level !== undefined && !levels.includes(level)) return `its level must be one of: ${levels.join(", ")}.`
  if (requireResultApproval !== undefined && !resultApprovals.includes(resultApprovalOf(requireResultApproval))) {
    return `requireResultApproval must be one of: ${resultApprovals.join(", ")}; or true or false.`
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

/** The stricter of two permissions in every field. A tool that covers another of the same name gets both restrictions. */
export function strictestPermission(one: Permission, other: Permission, order: LevelOrder = "asc"): Permission {
  const asks = one.requireExecutionApproval === true || other.requireExecutionApproval === true
  const neverAsks = one.requireExecutionApproval === false && other.requireExecutionApproval === false
  return {
    level: later(levels, one.level, other.level),
    ...(one.confirmed === true || other.confirmed === true ? { confirmed: true } : {}),
    ...(asks ? { requireExecutionApproval: true } : neverAsks ? { requireExecutionApproval: false } : {}),
    requireResultApproval: later(resultApprovals, one.requireResultApproval, other.requireResultApproval),
    allowedRoles: narrower(one.allowedRoles, other.allowedRoles, lowerCase),
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

/** A name that no role or department can have. It is the intersection of two lists without a common entry. */
export const impossibleName = "\u0000nobody"

function narrower(one: readonly string[], other: readonly string[], sameAs = asWritten): readonly string[] {
  if (one.length === 0) return other
  if (other.length === 0) return one
  const names = other.map(sameAs)
  const both = one.filter((name) => names.includes(sameAs(name)))
  return both.length === 0 ? [impossibleName] : both
}

function asWritten(name: string): string {
  return name
}

function lowerCase(name: string): string {
  return name.toLowerCase()
}

function smaller(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined) return other
  return other === undefined ? one : Math.min(one, other)
}

function larger(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined) return other
  return other === undefined ? one : Math.max(one, other)
}

/** With one of these, set to true in the input, a call asks to be confirmed. */
export const confirmationParameters: readonly string[] = ["require_confirmation", "requireConfirmation"]
