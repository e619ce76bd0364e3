import fc from "fast-check"
import { beforeAll, describe, expect, test } from "vitest"
import { subwordsOf } from "./denylist-doubts.ts"
import type { CommandGuard } from "./command-guard.ts"
import { casesOf, guardWith, verdictOf, type Verdict } from "./testing.ts"

let guard: CommandGuard
beforeAll(async () => {
  guard = await guardWith({ mode: "denylist", allow: [], deny: ["rm", "curl", "git push"] })
})

describe("the cases of own.denylist, in the mode denylist", () => {
  test.each(casesOf("own.denylist"))("$expect: $input ($why)", ({ input, expect: expected }) => {
    const { verdict, look } = verdictOf(guard, input)
    const sentences = look.findings.map(({ reason }) => reason.sentence).join(" ")
    expect(verdict, sentences).toBe(expected)
  })
})

const plain = fc.stringMatching(/^[a-z0-9._/-]{0,6}$/)
const divider = fc.constantFrom(...' =,;:!|&()<>{}[]`"$'.split(""))

test("a denied name inside any argument of any program never runs without asking", () => {
  fc.assert(
    fc.property(fc.array(plain), plain, divider, divider, plain, fc.nat(), (words, left, one, other, right, place) => {
      const word = `${left}${one}rm${other}${right}`
      const all = [...words.slice(0, place), word, ...words.slice(place)].map((text) => `'${text}'`)
      expect(verdictOf(guard, `foo ${all.join(" ")}`).verdict, word).not.toBe("allow")
    }),
    { numRuns: 100 },
  )
})

test("a denied name that is only part of a longer name does not count", () => {
  const near = fc.stringMatching(/^[a-z0-9._-]{1,5}$/)
  fc.assert(
    fc.property(near, near, plain, divider, (left, right, before, between) => {
      fc.pre(!/^-[a-z]$/.test(left) && before.replaceAll("-", "") !== "rm")
      for (const part of [`${left}rm`, `rm${right}`, `${left}rm${right}`])
        expect(subwordsOf(`${before.replaceAll("-", "")}${between}${part}`)).not.toContain("rm")
    }),
    { numRuns: 300 },
  )
})

test("the sentence names the denied word, its line and the segment", () => {
  const sentences = (line: string) => verdictOf(guard, line).look.findings.map(({ reason }) => reason.sentence)
  expect(sentences("ls; foo --with=rm x")).toEqual([
    "'foo --with=rm x' names 'rm', which is denied by tools.shell.deny[0]; another program could run it.",
  ])
  expect(sentences("cmake -P w.cmake")).toEqual([
    "'-P' may have 'cmake' run code or another program, in 'cmake -P w.cmake'.",
  ])
  expect(sentences("git z")).toEqual(["'git z' is an alias or a program that is not git's own, in 'git z'."])
})

test("an allow line covers its own words, but no denied name after them", async () => {
  const own = await guardWith({ mode: "denylist", allow: ["foo rm", "guile", "git z"], deny: ["rm"] })
  const verdicts = { "foo rm x": "allow", "foo rm rm": "ask", "foo x rm": "ask", "guile x.scm": "allow", "guile rm": "ask", "git z": "allow", "git y": "ask" } // prettier-ignore
  for (const [line, verdict] of Object.entries(verdicts))
    expect([line, verdictOf(own, line).verdict]).toEqual([line, verdict])
})

test.each(["ask", "allowlist"] as const)(
  "in the mode %s a denied command is found behind an allowed one, and other uses stay allowed",
  async (mode) => {
    const allow = ["choom", "conda", "yash", "guile", "cmake", "gfind", "nawk", "foo", "git", "echo", "grep"]
    const own = await guardWith({ mode, allow, deny: ["rm", "git push"] })
    const verdicts: Record<string, Verdict> = {
      "choom -n 0 -- rm x": "deny",
      "choom -n 0 -- ls": "allow",
      "conda run rm x": "deny",
      "conda run ls": "allow",
      "yash -c 'rm x'": "deny",
      "yash x": "allow",
      "gfind . -exec rm {} +": "deny",
      "gfind . -name x": "allow",
      "git send-pack origin": "deny",
      "git subtree push x": "deny",
      "git z": "allow",
      "guile x.scm": "allow",
      "cmake -P x.cmake": "allow",
      "nawk -f x": "allow",
      "foo rm": "allow",
      "echo rm": "allow",
      "grep rm README.md": "allow",
    }
    for (const [line, verdict] of Object.entries(verdicts))
      expect([line, verdictOf(own, line).verdict]).toEqual([line, verdict])
  },
)
