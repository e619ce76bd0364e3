import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { wireName, WireNames } from "./wire-names.ts"

const legal = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8)

describe("the wire names of many tools", () => {
  /** Names that meet: few letters, separators that all become `_`, long tails, and the spellings of one another. */
  const pieces = fc.string({ unit: fc.constantFrom("a", "B", "_", ".", ":", "-", "9", "é"), maxLength: 6 })
  const tails = fc.constantFrom("", "", "", "x".repeat(56), "x".repeat(64), "x".repeat(70))
  const plain = fc.oneof(
    fc.tuple(pieces, tails).map(([piece, tail]) => piece + tail),
    fc.tuple(pieces, pieces, tails).map(([server, tool, tail]) => `mcp:${server}:${tool}${tail}`),
    fc.constantFrom("__proto__", "constructor", "mcp:__proto__:toString", "\ud800", "\udc00"),
  )
  const sets = fc.array(plain, { maxLength: 12 }).chain((names) => {
    const spelled = names.map(wireName)
    const hashed = names.map((name) => `${wireName(name).slice(0, 55)}_${hash(name)}`)
    return fc.subarray([...spelled, ...hashed]).map((squatters) => [...names, ...squatters])
  })

  it("any set of names maps to legal names and back, each to its own", () => {
    const law = fc.property(sets, (all) => {
      const names = new WireNames(all)
      const wires = [...new Set(all)].map((name) => names.toWire(name))
      expect(new Set(wires).size).toBe(new Set(all).size)
      for (const name of all) {
        expect(names.toWire(name)).toMatch(legal)
        expect(names.fromWire(names.toWire(name))).toBe(name)
        if (legal.test(name)) expect(names.toWire(name)).toBe(name)
      }
    })
    fc.assert(law, { numRuns: 500 })
  })

  it("chosen names are kept where they meet nobody, and no two tools ever share one", () => {
    const some = sets.chain((all) => {
      const choices = fc.constantFrom("read", "list", "a.b", ...all, ...all.map(wireName))
      return fc.tuple(fc.constant(all), fc.array(fc.tuple(fc.constantFrom("", ...all), choices), { maxLength: 6 }))
    })
    const law = fc.property(some, ([all, pairs]) => {
      const chosen = new Map(pairs.filter(([name]) => all.includes(name) && !legal.test(name)))
      const names = new WireNames(all, chosen)
      const own = [...new Set(all)]
      expect(new Set(own.map((name) => names.toWire(name))).size).toBe(own.length)
      for (const name of own) {
        expect(names.fromWire(names.toWire(name))).toBe(name)
        if (legal.test(name)) expect(names.toWire(name)).toBe(name)
        const wish = chosen.get(name) ?? wireName(name)
        const alone = own.every((other) => other === name || (chosen.get(other) ?? wireName(other)) !== wish)
        if (alone) expect(names.toWire(name)).toBe(wish)
      }
    })
    fc.assert(law, { numRuns: 500 })
  })
})
