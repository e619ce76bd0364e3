import fc from "fast-check"
import { expect, test } from "vitest"
import { parseDocument, sectionKinds, writeDocument, type FoundSection } from "./grammar.ts"

const nasty = fc.constantFrom(
  "<!-- qm:person of=0 digest=x -->", "<!-- qm:draft -->", "\\<!-- qm:draft -->", "> <!-- qm:person -->", "## Ada", "\\## Ada",
  ">", "> ", "", "  ", "-->", "```", "<details>", "\u202e", "# x", "\\",
) // prettier-ignore
const text = fc
  .array(fc.oneof(nasty, fc.string()), { maxLength: 6 })
  .map((lines) => lines.join("\n").replaceAll(/[\r\u2028\u2029]/g, " "))
const trimmedText = text.map((each) => {
  const lines = each.split("\n")
  while (lines[0]?.trim() === "") lines.shift()
  while (lines.at(-1)?.trim() === "") lines.pop()
  return lines.join("\n")
})
const section: fc.Arbitrary<FoundSection> = fc.record({
  kind: fc.constantFrom(...sectionKinds),
  key: fc.constantFrom("", "0", "3.1"),
  digest: fc.constantFrom("", "ab12"),
  heading: fc.constantFrom("", "Ada", "dev (edited by hand)"),
  text: trimmedText,
})

test("law: sections are read back as they were written, whatever is in their texts", () => {
  fc.assert(
    fc.property(fc.constantFrom("", "# Notes\n\nMine."), fc.array(section, { maxLength: 6 }), (lead, sections) => {
      const written = writeDocument({ lead, sections })
      const read = parseDocument(written)
      expect(read.lead).toBe(lead)
      expect(read.sections.map(({ kind, key, digest }) => [kind, key, digest])).toEqual(
        sections.map(({ kind, key, digest }) => [kind, key, digest]),
      )
      for (const [place, each] of sections.entries()) expect(read.sections[place]).toEqual(each)
      expect(writeDocument(read)).toBe(written)
    }),
    { numRuns: 300 },
  )
})

test("law: no text of an agent or a tool makes a section", () => {
  fc.assert(
    fc.property(fc.constantFrom("agent", "tool", "approval", "note", "quoted"), text, (kind, given) => {
      const written = writeDocument({
        lead: "",
        sections: [{ kind, key: "1", digest: "", heading: "dev", text: given } as FoundSection],
      })
      expect(parseDocument(written).sections).toHaveLength(1)
    }),
    { numRuns: 300 },
  )
})

test("a plain file is a lead, and lines that only look like ours are text", () => {
  const plain = "# Notes\n\n<!-- a comment -->\n<!-- qm:king -->\n <!-- qm:draft -->"
  expect(parseDocument(plain)).toEqual({ lead: plain, sections: [] })
})
