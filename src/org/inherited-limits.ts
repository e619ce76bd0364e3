import type { LevelOrder } from "../core/permission.ts"

/** The groups in both lists; null means all groups. */
export function intersectGroups(a: readonly string[] | null, b: readonly string[] | null): readonly string[] | null {
  if (a === null) return b
  return b === null ? a : a.filter((group) => b.includes(group))
}

/** The groups of the list that are not in `held`; null means all groups are held. */
export function groupsNotHeld(list: readonly string[], held: readonly string[] | null): string[] {
  return held === null ? [] : list.filter((group) => !held.includes(group))
}

/** The level of an agent that has none of its own. */
export function lowestLevel(order: LevelOrder): number {
  return order === "asc" ? 0 : Number.MAX_SAFE_INTEGER
}

export function weakerLevel(a: number, b: number, order: LevelOrder): number {
  return order === "asc" ? Math.min(a, b) : Math.max(a, b)
}
