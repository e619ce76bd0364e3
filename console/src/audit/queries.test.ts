import { describe, expect, test } from "vitest"
import { paramsOf, rangeOf, spanOf } from "./queries.ts"

const now = Date.parse("2026-11-17T12:00:00Z")

describe("the filters of the audit page", () => {
  test("without any, the last day is meant", () => {
    expect(spanOf({})).toBe("day")
    expect(spanOf({ last: "century" })).toBe("day")
    expect(rangeOf({}, now)).toEqual({ since: now - 86_400_000 })
  })

  test("all time has no begin", () => expect(rangeOf({ last: "always" }, now)).toEqual({}))

  test("a range may have one end only, and what is no time is left out", () => {
    const to = "2026-11-17T11:00"
    expect(rangeOf({ last: "range", from: "soon", to }, now)).toEqual({ until: Date.parse(to) })
  })

  test("are named for the API, without those that are not set", () => {
    const params = paramsOf({ agent: "dev", ending: "timeout", last: "always" }, now)
    expect(params.toString()).toBe("agentId=dev&status=timeout")
  })
})
