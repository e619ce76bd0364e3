import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { defineTool } from "../schema/define-tool.ts"
import {
  effects,
  fillPermission,
  impossibleName,
  strictestPermission,
  ToolPermissionLevel,
  type Effect,
  type LevelOrder,
  type Permission,
  type ToolPermission,
} from "./permission.ts"

describe("a permission level", () => {
  it("is one of three", () => {
    expect(ToolPermissionLevel).toEqual({ PUBLIC: "public", MODERATE: "moderate", SENSITIVE: "sensitive" })
  })

  it.each<[Effect | undefined, string]>([
    ["none", "public"],
    ["read", "public"],
    ["write", "moderate"],
    ["network", "moderate"],
    ["communicate", "moderate"],
    ["execute", "sensitive"],
    [undefined, "sensitive"],
  ])("is decided by the effect %s when nobody gives one: %s", (effect, level) => {
    expect(fillPermission({}, effect).level).toBe(level)
    expect(fillPermission(undefined, effect).level).toBe(level)
    expect(fillPermission({ level: "public" }, effect).level).toBe("public")
  })

  it("is sensitive for what is dangerous or must be confirmed, whatever else is said", () => {
    for (const word of ["dangerous", "requireConfirmation"] as const) {
      for (const effect of effects) {
        expect(fillPermission({ [word]: true, level: "public" }, effect).level).toBe("sensitive")
        expect(fillPermission({ [word]: false, level: "sensitive" }, effect).level).toBe("sensitive")
        expect(fillPermission({ [word]: false }, effect)).toEqual(fillPermission({}, effect))
      }
    }
  })
})

describe("a permission", () => {
  it("leaves nothing open: every role, every department, no level, no limit, no approval of results", () => {
    expect(fillPermission({}, "read")).toEqual({
      level: "public",
      requireResultApproval: "never",
      allowedRoles: [],
      allowedDepartments: [],
      minLevel: undefined,
      rateLimit: {},
    })
  })

  it("keeps what its author said", () => {
    const said = {
      level: "moderate",
      requireExecutionApproval: false,
      requireResultApproval: "on-error",
      allowedRoles: ["developer"],
      allowedDepartments: ["engineering"],
      minLevel: 0,
      rateLimit: { maxCallsPerMinute: 0 },
    } as const
    expect(fillPermission(said, "execute")).toEqual(said)
  })

  it.each<[unknown, string]>([
    [{ level: "PUBLIC" }, "its level must be one of: public, moderate, sensitive."],
    [{ level: "constructor" }, "its level must be one of: public, moderate, sensitive."],
    [
      { requireResultApproval: "yes" },
      "requireResultApproval must be one of: never, on-error, always; or true or false.",
    ],
    [{ allowedRoles: "developer" }, "allowedRoles and allowedDepartments must be lists of names."],
    [{ allowedDepartments: {} }, "allowedRoles and allowedDepartments must be lists of names."],
    [{ minLevel: Number.NaN }, "minLevel and the rate limits must be numbers."],
    [{ minLevel: "3" }, "minLevel and the rate limits must be numbers."],
    [{ rateLimit: { maxCallsPerHour: "many" } }, "minLevel and the rate limits must be numbers."],
  ])("that would silently mean nothing is refused: %j", (permission, sentence) => {
    const define = () =>
      defineTool({
        name: "a",
        description: "A.",
        group: "g",
        input: z.object({}),
        permission: permission as ToolPermission,
        execute: () => null,
      })
    expect(define).toThrow(`The tool "a" cannot be defined: ${sentence}`)
  })
})

describe("a kind", () => {
  it("nobody knows is refused, because it would have no time limit", () => {
    const spec = { name: "a", description: "A.", group: "g", input: z.object({}), execute: () => null }
    expect(() => defineTool({ ...spec, kind: "Plain" as never })).toThrow(
      'The tool "a" cannot be defined: its kind must be one of: plain, composite, interactive.',
    )
    expect(defineTool({ ...spec, kind: "composite" }).kind).toBe("composite")
  })
})

const levelRank = { public: 0, moderate: 1, sensitive: 2 }
const resultRank = { never: 0, "on-error": 1, always: 2 }
const askRank = (asks: boolean | undefined) => (asks === true ? 2 : asks === false ? 0 : 1)
const allows = (list: readonly string[], name: string) => list.length === 0 || list.includes(name)

/** Returns the strictness of a permission: everything it can forbid, as numbers and yes or no. */
function strictness(permission: Permission, order: LevelOrder): number[] {
  const { minLevel, rateLimit } = permission
  const missing = -1
  return [
    levelRank[permission.level],
    resultRank[permission.requireResultApproval],
    askRank(permission.requireExecutionApproval),
    ...["a", "b", "c", "d"].map((role) => (allows(permission.allowedRoles, role) ? 0 : 1)),
    ...["a", "b", "c", "d"].map((department) => (allows(permission.allowedDepartments, department) ? 0 : 1)),
    minLevel === undefined ? missing : order === "asc" ? minLevel : 100 - minLevel,
    rateLimit.maxCallsPerMinute === undefined ? missing : 100 - rateLimit.maxCallsPerMinute,
    rateLimit.maxCallsPerHour === undefined ? missing : 100 - rateLimit.maxCallsPerHour,
  ]
}

describe("the strictest of two permissions", () => {
  const some = fc.shuffledSubarray(["a", "b", "c"])
  const small = fc.integer({ min: 0, max: 5 })
  const permissions = fc
    .record<ToolPermission>(
      {
        level: fc.constantFrom("public", "moderate", "sensitive"),
        requireExecutionApproval: fc.boolean(),
        requireResultApproval: fc.constantFrom("never", "on-error", "always"),
        allowedRoles: some,
        allowedDepartments: some,
        minLevel: small,
        rateLimit: fc.record({ maxCallsPerMinute: small, maxCallsPerHour: small }, { requiredKeys: [] }),
      },
      { requiredKeys: [] },
    )
    .map((given) => fillPermission(given))
  const orders = fc.constantFrom<LevelOrder[]>("asc", "desc")
  const sorted = (permission: Permission) => ({
    ...permission,
    allowedRoles: permission.allowedRoles.toSorted(),
    allowedDepartments: permission.allowedDepartments.toSorted(),
  })

  it("does not depend on which is first", () => {
    const law = fc.property(permissions, permissions, orders, (one, other, order) => {
      expect(sorted(strictestPermission(one, other, order))).toEqual(sorted(strictestPermission(other, one, order)))
    })
    fc.assert(law, { numRuns: 500 })
  })

  it("does not depend on which two of three come first", () => {
    const law = fc.property(permissions, permissions, permissions, orders, (one, two, three, order) => {
      const left = strictestPermission(strictestPermission(one, two, order), three, order)
      expect(sorted(left)).toEqual(sorted(strictestPermission(one, strictestPermission(two, three, order), order)))
    })
    fc.assert(law, { numRuns: 500 })
  })

  it("of a permission with itself is that permission", () => {
    const law = fc.property(permissions, orders, (one, order) => {
      expect(strictestPermission(one, one, order)).toEqual(one)
    })
    fc.assert(law, { numRuns: 300 })
  })

  it("is in every field exactly as strict as the stricter of the two, never looser", () => {
    const law = fc.property(permissions, permissions, orders, (one, other, order) => {
      const [left, right] = [strictness(one, order), strictness(other, order)]
      const expected = left.map((value, index) => Math.max(value, right[index]!))
      expect(strictness(strictestPermission(one, other, order), order)).toEqual(expected)
    })
    fc.assert(law, { numRuns: 1000 })
  })

  it("leaves nobody when the lists have nobody in common, also against a third", () => {
    const [one, other] = [fillPermission({ allowedRoles: ["a"] }), fillPermission({ allowedRoles: ["b"] })]
    const none = strictestPermission(one, other)
    expect(none.allowedRoles).toEqual([impossibleName])
    expect(strictestPermission(none, one).allowedRoles).toEqual([impossibleName])
    expect(strictestPermission(fillPermission({}), none).allowedRoles).toEqual([impossibleName])
  })

  it("takes the larger level where more is more, and the smaller where level 0 stands on top", () => {
    const [one, other] = [fillPermission({ minLevel: 1 }), fillPermission({ minLevel: 4 })]
    expect(strictestPermission(one, other).minLevel).toBe(4)
    expect(strictestPermission(one, other, "desc").minLevel).toBe(1)
    expect(strictestPermission(one, fillPermission({}), "desc").minLevel).toBe(1)
  })
})
