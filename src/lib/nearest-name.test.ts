import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { nearestName } from "./nearest-name.ts"

describe("the nearest name", () => {
  it.each([
    ["raed_file", ["read_file", "write_file"], "read_file"],
    ["read_fil", ["read_file", "write_file"], "read_file"],
    ["readfile", ["read_file", "write_file"], "read_file"],
    ["READ_FILE", ["read_file"], "read_file"],
    ["pth", ["depth", "path"], "path"],
    ["paht", ["bath", "path"], "path"],
    ["list_file", ["list_files", "find_files"], "list_files"],
    ["constuctor", ["constructor"], "constructor"],
  ])("of %j among %j is %j", (written, known, expected) => {
    expect(nearestName(written, known)).toBe(expected)
  })

  it.each([
    ["http_get", ["read_file", "write_file"]],
    ["zz", ["i", "path"]],
    ["x", ["ab", "y"]],
    ["", ["a", "ab"]],
    ["anything", []],
    ["a".repeat(100_000), ["a", "aa"]],
  ])("of something quite different is nothing", (written, known) => {
    expect(nearestName(written, known)).toBeUndefined()
  })

  it("of equally near names is the first", () => {
    expect(nearestName("cat", ["bat", "hat"])).toBe("bat")
  })

  const names = fc.string({ unit: fc.constantFrom("a", "b", "c", "_"), minLength: 3, maxLength: 10 })

  it("is the name itself when it is known, and never a name that is not", () => {
    const law = fc.property(fc.uniqueArray(names, { minLength: 1 }), names, (known, written) => {
      for (const name of known) expect(nearestName(name, known)).toBe(name)
      const found = nearestName(written, known)
      if (found !== undefined) expect(known).toContain(found)
    })
    fc.assert(law, { numRuns: 300 })
  })

  it("finds a name after one slip: a letter lost, doubled, swapped or changed", () => {
    const slips = fc.tuple(names, fc.nat(), fc.constantFrom("lost", "doubled", "swapped", "changed"))
    const law = fc.property(slips, ([name, where, slip]) => {
      const at = where % name.length
      const [before, letter, after] = [name.slice(0, at), name.charAt(at), name.slice(at + 1)]
      const written = {
        lost: before + after,
        doubled: before + letter + letter + after,
        swapped: before + after.charAt(0) + letter + after.slice(1),
        changed: `${before}z${after}`,
      }[slip]
      expect(nearestName(written, ["wholly_different", name])).toBe(name)
    })
    fc.assert(law, { numRuns: 300 })
  })
})
