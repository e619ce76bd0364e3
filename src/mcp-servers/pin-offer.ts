import { canonicalJson } from "../lib/canonical-json.ts"
import type { Offer } from "./connection-types.ts"
import type { PinnedParts, PinnedTool, ServerPins } from "./pins.ts"
import { schemaProblem } from "./schemas.ts"
import type { OfferedTool } from "./tool-status.ts"

const noParts: PinnedParts = { resources: false, prompts: false, completions: false }

/** Returns the parts of a server besides tools: from its offer, else from its pins. */
export function partsOf(offer: Offer | undefined, pins?: ServerPins): PinnedParts {
  if (offer === undefined) return pins?.parts ?? noParts
  const { resources, prompts, completions } = offer.capabilities
  return { resources, prompts, completions }
}

/** Returns the lists besides the tools that differ between two offers. */
export function changedLists(before: Offer | undefined, now: Offer): ("resources" | "prompts")[] {
  const differ = (select: (offer: Offer) => unknown) =>
    canonicalJson(before === undefined ? [] : select(before)) !== canonicalJson(select(now))
  const isChanged = {
    resources: differ(({ resources, templates }) => [...resources, ...templates]),
    prompts: differ(({ prompts }) => prompts),
  }
  return (["resources", "prompts"] as const).filter((list) => isChanged[list])
}

/** Pins the tools as they are now. There may be thousands of schemas to check, so it pauses regularly. */
export async function pinTools(offered: readonly OfferedTool[], by: string): Promise<PinnedTool[]> {
  const pinned: PinnedTool[] = []
  let pausedAt = performance.now()
  for (const { definition, hash, warnings } of offered) {
    const leftOut = schemaProblem(definition)
    const allWarnings = leftOut === undefined ? warnings : [...warnings, leftOut]
    pinned.push({ definition, hash, warnings: allWarnings, leftOut, by, at: Date.now() })
    if (performance.now() - pausedAt < 10) continue
    await new Promise((resolve) => setImmediate(resolve))
    pausedAt = performance.now()
  }
  return pinned
}
