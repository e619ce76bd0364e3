import type { LevelOrder } from "../model/permission.ts"

/** What both have; null means all. */
export function bothGroups(one: readonly string[] | null, other: readonly string[] | null): readonly string[] | null {
  if (one === null) return other
  return other === null ? one : one.filter((group) => other.includes(group))
}

/** The groups of the list that the holder does not have. */
export function groupsBeyond(list: readonly string[], held: readonly string[] | null): string[] {
  return held === null ? [] : list.filter((group) => !held.includes(group))
}

/** The level of whoever has none. */
export function leastLevel(order: LevelOrder): number {
  return order === "asc" ? 0 : Number.MAX_SAFE_INTEGER
}

export function weakerLevel(one: number, other: number, order: LevelOrder): number {
  return order === "asc" ? Math.min(one, other) : Math.max(one, other)
}
