import fc from "fast-check"
import { expect, test } from "vitest"
import { matcherOf, mayMatch, foldCase } from "./matcher.ts"

const word = fc.stringMatching(/^[A-Za-z_$ßΣσİıéК报][A-Za-z0-9_$ßΣσİıéК报]{0,11}$/)

const fits = (query: string, name: string) => {
  const matcher = matcherOf({ query })
  return mayMatch(foldCase(name), matcher) && matcher.name(name, foldCase(name)) !== undefined
}

test("law: any part of a name, in any letter case, finds it, and its file is among those that are parsed", () => {
  const cut = word.chain((name) =>
    fc.record({
      name: fc.constant(name),
      from: fc.nat(name.length - 1),
      length: fc.integer({ min: 1, max: name.length }),
      shout: fc.boolean(),
      around: fc.tuple(word, word),
    }),
  )
  fc.assert(
    fc.property(cut, ({ name, from, length, shout, around: [before, after] }) => {
      const part = name.slice(from, from + length)
      const query = shout && part.toUpperCase().toLowerCase() === part.toLowerCase() ? part.toUpperCase() : part
      expect(fits(query, name)).toBe(true)
      expect(mayMatch(foldCase(`${before} ${name}${after}(`), matcherOf({ query }))).toBe(true)
    }),
    { numRuns: 1000 },
  )
})

test("law: a glob made of a name finds the name, and so does its file", () => {
  fc.assert(
    fc.property(word, fc.nat(12), fc.constantFrom("*", "?"), (name, at, wild) => {
      const place = at % name.length
      const query = `${name.slice(0, place)}${wild}${name.slice(place + 1)}`
      if (foldCase(name).length !== name.length) return
      expect(fits(query, name)).toBe(true)
      expect(mayMatch(foldCase(`const ${name} = 1`), matcherOf({ query }))).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test("law: an exact query matches only the exact name", () => {
  fc.assert(
    fc.property(word, word, (query, name) => {
      const matcher = matcherOf({ query, match: "exact" })
      expect(mayMatch(foldCase(name), matcher) && matcher.name(name, foldCase(name)) !== undefined).toBe(name === query)
    }),
    { numRuns: 500 },
  )
})

test.each([
  ["server", "src/server.ts", 1],
  ["server.ts", "src/server.ts", 0],
  ["src/server.ts", "src/server.ts", 0],
  ["serv", "src/server.ts", 2],
  ["src", "src/server.ts", 3],
  ["src ts", "src/server.ts", 3],
  ["*.ts", "src/server.ts", 0],
  ["src/**", "src/a/server.ts", 0],
  ["lib/*", "src/server.ts", undefined],
  ["client", "src/server.ts", undefined],
])("the file query %s ranks %s as %s", (query, path, rank) => {
  expect(matcherOf({ query }).path(path, foldCase(path))).toBe(rank)
})
