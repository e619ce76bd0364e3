import type { Tool } from "../../core/tool.ts"
import { tool } from "../../testing/test-app.ts"

export const toolWithDependencies = (name: string, dependsOn: readonly string[] = [], version = "1.0.0"): Tool =>
  tool({ name, dependsOn, version, execute: () => version })

/** Plainly: strike out what needs nothing that is left, until nothing changes. */
export function hasCycle(tools: readonly Tool[]): boolean {
  let left = new Set(tools.map(({ name }) => name))
  for (;;) {
    const stay = [...left].filter((name) =>
      tools.some((one) => one.name === name && (one.dependsOn ?? []).some((need) => left.has(need))),
    )
    if (stay.length === left.size) return stay.length > 0
    left = new Set(stay)
  }
}
