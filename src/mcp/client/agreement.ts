import { canonicalJson } from "../../model/plain.ts"
import type { Offer } from "./connection.ts"
import type { PinnedParts, PinnedTool, ServerPins } from "./pins.ts"
import { schemaProblem } from "./schemas.ts"
import type { SeenTool } from "./standing.ts"

const noParts: PinnedParts = { resources: false, prompts: false, completions: false }

/** What a server has besides tools: as it says now, else as it said before. */
export function partsOf(offer: Offer | undefined, pins?: ServerPins): PinnedParts {
  if (offer === undefined) return pins?.parts ?? noParts
  const { resources, prompts, completions } = offer.capabilities
  return { resources, prompts, completions }
}

/** Which of the lists that are no tools differ between two offers. */
export function changedLists(before: Offer | undefined, now: Offer): ("resources" | "prompts")[] {
  const differ = (some: (offer: Offer) => unknown) =>
    canonicalJson(before === undefined ? [] : some(before)) !== canonicalJson(some(now))
  const isOther = {
    resources: differ(({ resources, templates }) => [...resources, ...templates]),
    prompts: differ(({ prompts }) => prompts),
  }
  return (["resources", "prompts"] as const).filter((list) => isOther[list])
}

/** Each as it is agreed to now. Schemas are tried here, a few at a time, because there may be thousands. */
export async function pinnedNow(seen: readonly SeenTool[], by: string): Promise<PinnedTool[]> {
  const pinned: PinnedTool[] = []
  let pausedAt = performance.now()
  for (const { definition, hash, warnings } of seen) {
    const leftOut = schemaProblem(definition)
    const told = leftOut === undefined ? warnings : [...warnings, leftOut]
    pinned.push({ definition, hash, warnings: told, leftOut, by, at: Date.now() })
    if (performance.now() - pausedAt < 10) continue
    await new Promise((resolve) => setImmediate(resolve))
    pausedAt = performance.now()
  }
  return pinned
}
