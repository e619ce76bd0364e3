import { expect, test } from "vitest"
import { facts } from "../testing.ts"
import { lookAtCall } from "../testing/checks.ts"
import { rateLimitCheck } from "./rate-limit.ts"

test("a full window denies, and the fix is to wait until it has room", () => {
  const limit = { ok: false as const, sentence: "Rate limit exceeded: 1 calls per minute", retryAfterMs: 11_500 }
  expect(lookAtCall(rateLimitCheck, facts({ limit }))).toMatchObject([
    { check: "limit", source: "system:probe@1.0.0", code: "rate_limited", ending: "rate_limited", fix: "Wait 12 s" },
  ])
  expect(lookAtCall(rateLimitCheck, facts())).toEqual([])
})
