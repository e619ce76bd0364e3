/*
 * A document is Markdown. Each section begins with a line that only we write: <!-- qm:KIND name=value … -->. The words of
 * agents and tools are block quotes, so that none of their lines is such a line, nor looks like the heading of a person. In
 * the words of people such a line gets a backslash.
 */

export const sectionKinds = ["person", "agent", "tool", "approval", "note", "quoted", "draft"] as const
export type SectionKind = (typeof sectionKinds)[number]

export interface Section {
  kind: SectionKind
  /** The part of the conversation it shows: the turn, for a call with its place. Empty for a person's addition. */
  key: string
  /** The heading that readers of the file see. */
  heading: string
  text: string
}

/** A section as it was found in a file, and whether it is as we wrote it there. */
export interface FoundSection extends Section {
  digest: string
}

export interface ParsedDocument {
  /** The text above the first section. */
  lead: string
  sections: FoundSection[]
}

const opening = "<!-- qm:"
const closing = " -->"

/** Reads a document. Whatever is not a line of ours is text of the section that it stands in. */
export function parseDocument(markdown: string): ParsedDocument {
  const sections: FoundSection[] = []
  const lead: string[] = []
  let lines = lead
  const texts: string[][] = []
  for (const line of markdown.split(/\r?\n/)) {
    const marker = readMarker(line)
    if (marker === undefined) lines.push(line)
    else {
      sections.push({ ...marker, heading: "", text: "" })
      texts.push((lines = []))
    }
  }
  return {
    lead: trimmed(lead),
    sections: sections.map((section, place) => ({ ...section, ...readBody(section.kind, texts[place]!) })),
  }
}

export function writeDocument({ lead, sections }: { lead: string; sections: readonly FoundSection[] }): string {
  const parts = sections.map(({ kind, key, digest, heading, text }) => {
    const marker = `${opening}${kind}${key === "" ? "" : ` of=${key}`}${digest === "" ? "" : ` digest=${digest}`}${closing}`
    const body = isQuoted(kind) ? quoted(text) : escaped(text)
    return [marker, ...(heading === "" ? [] : [`## ${heading}`, ""]), ...(body === "" ? [] : [body]), ""].join("\n")
  })
  return [...(lead === "" ? [] : [lead, ""]), ...parts].join("\n")
}

/** Reports whether the words of a section are those of an agent, a tool or Quartermaster. */
function isQuoted(kind: SectionKind): boolean {
  return kind !== "person" && kind !== "draft"
}

/** `<!-- qm:agent of=3 digest=ab12 -->` as what it says. Undefined for any other line. */
function readMarker(line: string): Pick<FoundSection, "kind" | "key" | "digest"> | undefined {
  if (!line.startsWith(opening) || !line.endsWith(closing)) return undefined
  const [kind, ...fields] = line.slice(opening.length, -closing.length).split(" ")
  const known = sectionKinds.find((each) => each === kind)
  if (known === undefined) return undefined
  const values = new Map(
    fields.map((field) => [field.slice(0, field.indexOf("=")), field.slice(field.indexOf("=") + 1)]),
  )
  return { kind: known, key: values.get("of") ?? "", digest: values.get("digest") ?? "" }
}

function readBody(kind: SectionKind, lines: readonly string[]): Pick<Section, "heading" | "text"> {
  const first = lines.findIndex((line) => line.trim() !== "")
  const hasHeading = first !== -1 && lines[first]!.startsWith("## ")
  const heading = hasHeading ? lines[first]!.slice(3).trim() : ""
  const body = trimmed(hasHeading ? lines.slice(first + 1) : lines)
  return { heading, text: isQuoted(kind) ? unquoted(body) : unescaped(body) }
}

function trimmed(lines: readonly string[]): string {
  const from = lines.findIndex((line) => line.trim() !== "")
  if (from === -1) return ""
  return lines.slice(from, lines.findLastIndex((line) => line.trim() !== "") + 1).join("\n")
}

function quoted(text: string): string {
  if (text === "") return ""
  return text
    .split(/\r\n?|\n/)
    .map((line) => (line === "" ? ">" : `> ${line}`))
    .join("\n")
}

/** A line that was added without the sign of a quote is a part of the quote all the same. */
function unquoted(body: string): string {
  return body
    .split("\n")
    .map((line) => (line.startsWith("> ") ? line.slice(2) : line === ">" ? "" : line))
    .join("\n")
}

/** A line of a person that would be read as one of ours, or as the heading of its section, begins with a backslash. */
function escaped(text: string): string {
  return text
    .split(/\r\n?|\n/)
    .map((line, place) => (needsEscape(line, place) ? `\\${line}` : line))
    .join("\n")
}

function unescaped(body: string): string {
  return body
    .split("\n")
    .map((line, place) => (line.startsWith("\\") && needsEscape(line.slice(1), place) ? line.slice(1) : line))
    .join("\n")
}

function needsEscape(line: string, place: number): boolean {
  const plain = line.replace(/^\\+/, "")
  return plain.startsWith(opening) || (place === 0 && plain.startsWith("## "))
}
