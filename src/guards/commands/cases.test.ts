import { beforeAll, describe, expect, test } from "vitest"
import type { CommandGuard } from "./command-guard.ts"
import { casesOf, guardWith, verdictOf } from "./testing.ts"

let guard: CommandGuard
beforeAll(async () => {
  guard = await guardWith()
})

describe.each(["commands", "own.commands"])("the cases of %s", (name) => {
  test.each(casesOf(name))("$expect: $input ($why)", ({ input, expect: expected, cwd, environment, network }) => {
    const { verdict, look } = verdictOf(guard, input, { cwd, environment, network })
    const told = look.findings.map(({ reason }) => reason.sentence).join(" ")
    // A denied script may ask where the text cannot be judged without running it.
    if (expected === "deny" && !look.proved) expect(["deny", "ask"], told).toContain(verdict)
    else expect(verdict, told).toBe(expected)
  })
})
