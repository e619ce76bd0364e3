import { OrganisationError } from "./organisation-admin.ts"

/** The lifetime of a token that was created without one. */
export const defaultTokenLifetimeMs = 90 * 24 * 60 * 60 * 1000

export function refuseBadLifetime(lifetimeMs: number | null): void {
  if (lifetimeMs === null || (Number.isSafeInteger(lifetimeMs) && lifetimeMs > 0)) return
  throw new OrganisationError(
    "invalid_lifetime",
    "The lifetime of a token is a whole number of milliseconds above 0, or null for a token that never expires.",
  )
}
