import { beforeAll, describe, expect, test } from "vitest"
import type { CommandGuard } from "./guard.ts"
import { casesOf, guardWith, verdictOf, type Verdict } from "./testing.ts"

let guard: CommandGuard
beforeAll(async () => {
  guard = await guardWith()
})

const strictness: Record<Verdict, number> = { allow: 0, ask: 1, deny: 2 }

describe.each(["commands", "own.commands"])("the cases of %s", (name) => {
  test.each(casesOf(name))("$expect: $input ($why)", ({ input, expect: expected, cwd, environment, network }) => {
    const { verdict, look } = verdictOf(guard, input, { cwd, environment, network })
    const told = look.findings.map(({ reason }) => reason.sentence).join(" ")
    if (expected === "allow") expect(`${verdict} ${told}`).toBe("allow ")
    expect(strictness[verdict], told).toBeGreaterThanOrEqual(strictness[expected])
  })
})
