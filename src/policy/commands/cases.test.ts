import { beforeAll, describe, expect, test } from "vitest"
import type { CommandGuard } from "./guard.ts"
import { casesOf, guardWith, verdictOf, type Verdict } from "./testing.ts"

let guard: CommandGuard
beforeAll(async () => {
  guard = await guardWith()
})

const strictness: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 }

/** Lines whose danger no text shows: there a question is enough. */
const onlyRunningTells = new Set<string>([])

describe.each(["commands", "own.commands"])("the cases of %s", (name) => {
  test.each(casesOf(name))("$expect: $input ($why)", ({ input, expect: expected, why: _, ...touch }) => {
    const { verdict, look } = verdictOf(guard, input, touch as object)
    const told = look.findings.map(({ reason }) => reason.sentence).join(" ")
    if (expected === "allow") expect(`${verdict} ${told}`).toBe("allow ")
    const least = onlyRunningTells.has(input) ? 1 : strictness[expected]
    expect(strictness[verdict], told).toBeGreaterThanOrEqual(least)
  })
})
