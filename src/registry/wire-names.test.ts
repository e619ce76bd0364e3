import { createHash } from "node:crypto"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { wireName, WireNames } from "./wire-names.ts"

const legal = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/
const hash = (text: string) => createHash("sha256").update(text).digest("hex").slice(0, 8)

describe("the wire name of one tool", () => {
  it.each([
    ["read_file", "read_file"],
    ["Read-File-2", "Read-File-2"],
    ["_", "_"],
    ["x".repeat(64), "x".repeat(64)],
    ["mcp:github:search", "github__search"],
    ["mcp:git.hub:search issues", "git_hub__search_issues"],
    ["mcp:a:b:c", "a__b_c"],
    ["mcp:9router:go", "_9router__go"],
    ["mcp:alone", "mcp_alone"],
    ["mcp::tool", "mcp__tool"],
    ["a.b", "a_b"],
    ["1st", "_1st"],
    ["-dash", "_-dash"],
    ["读文件", "___"],
    ["🦆", "_"],
    ["line\nbreak", "line_break"],
    ["read_file\n", "read_file_"],
    ["", "_"],
    ["x".repeat(65), `${"x".repeat(55)}_${hash("x".repeat(65))}`],
    [`mcp:server:${"t".repeat(100)}`, `server__${"t".repeat(47)}_${hash(`mcp:server:${"t".repeat(100)}`)}`],
  ])("%j is called %j outside", (name, wire) => {
    expect(wireName(name)).toBe(wire)
    expect(new WireNames([name]).toWire(name)).toBe(wire)
    expect(wire).toMatch(legal)
  })
})

describe("the wire names of many tools", () => {
  it("a server cannot take the name of a tool that is already legal", () => {
    const names = new WireNames(["mcp:files:read", "files__read"])
    expect(names.fromWire("files__read")).toBe("files__read")
    expect(names.toWire("mcp:files:read")).toBe(`files__read_${hash("mcp:files:read")}`)
  })

  it("of two names that would be spelled alike, neither keeps the plain spelling", () => {
    const names = new WireNames(["mcp:a:b__c", "mcp:a__b:c", "mcp:a:other"])
    expect(names.fromWire("a__b__c")).toBeUndefined()
    expect(names.toWire("mcp:a:b__c")).toBe(`a__b__c_${hash("mcp:a:b__c")}`)
    expect(names.toWire("mcp:a__b:c")).toBe(`a__b__c_${hash("mcp:a__b:c")}`)
    expect(names.toWire("mcp:a:other")).toBe("a__other")
  })

  it("a legal name that looks like another's hashed spelling keeps itself, and the other moves on", () => {
    const squatter = `a_b_${hash("a.b")}`
    const names = new WireNames(["a.b", "a_b", squatter])
    expect(names.toWire(squatter)).toBe(squatter)
    expect(names.toWire("a.b")).toBe(`a_b_${hash("a.b\x001")}`)
  })

  it("names with one hash between them are told apart, the same way in any order", () => {
    const [one, two] = [new WireNames(["\ud800", "\udc00"]), new WireNames(["\udc00", "\ud800"])]
    expect(one.toWire("\ud800")).not.toBe(one.toWire("\udc00"))
    expect(two.toWire("\ud800")).toBe(one.toWire("\ud800"))
    expect(two.toWire("\udc00")).toBe(one.toWire("\udc00"))
  })

  it("unknown wires lead nowhere, and a name outside the set is a mistake said aloud", () => {
    const names = new WireNames(["mcp:a:b"])
    for (const wire of ["mcp:a:b", "A__b", "a__b_", "__proto__", "constructor", ""]) {
      expect(names.fromWire(wire)).toBeUndefined()
    }
    expect(() => names.toWire("mcp:a:c")).toThrow('The tool "mcp:a:c" has no wire name; make WireNames from all shown')
  })

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

  it("the order and the repetition of names change nothing", () => {
    const twoOrders = sets.chain((all) => {
      return fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }))
    })
    const law = fc.property(twoOrders, ([all, other]) => {
      const [one, two] = [new WireNames(all), new WireNames([...other, ...all])]
      for (const name of all) expect(two.toWire(name)).toBe(one.toWire(name))
    })
    fc.assert(law, { numRuns: 500 })
  })
})
