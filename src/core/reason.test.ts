import { expect, test } from "vitest"
import { isSameReason, readStoredReasons } from "./reason.ts"

test("a reason that was stored under an older name of its check is the same reason", () => {
  const now = {
    check: "confirmation",
    source: "input /require_confirmation",
    code: "confirmation_wished",
    sentence: "",
  }
  const { check: _check, ...rest } = now
  const [stored] = readStoredReasons([{ voice: "wish", ...rest }])
  expect(stored).toEqual(now)
  expect(isSameReason(stored!, now)).toBe(true)
  expect(readStoredReasons([{ voice: "level", ...rest }, now])).toEqual([{ ...now, check: "level" }, now])
})
