import { sha256 } from "../../lib/canonical-json.ts"
import type { FoundSection, ParsedDocument, Section } from "./grammar.ts"

export const draftHeading = "Draft"

/** A document as it should be: the conversation as it is, and what people added. */
export interface MergedDocument {
  lead: string
  sections: FoundSection[]
  /** The text that a person wrote and has not sent. */
  draft: string
  /** The message that the draft is a change of; else empty. */
  sent: string
  /** Changes with what people write, and not with what the conversation adds. */
  revision: string
}

/**
 * Puts what was found in a file together with the conversation. Nothing of the file is taken for a part of the conversation:
 * a section that somebody changed is written anew from the conversation, and the changed text stays below it, as a quote. A
 * changed message of a person is a draft.
 */
export function mergeDocument(found: ParsedDocument, conversation: readonly Section[]): MergedDocument {
  const known = new Map(conversation.map((section) => [idOf(section), section]))
  const added = new Map<string, FoundSection[]>()
  const seen = new Set<string>()
  let anchor = ""
  let draft = ""
  let draftOf = ""
  const add = (section: Section) => {
    const list = added.get(anchor) ?? []
    added.set(anchor, [...list, { ...section, digest: "" }])
  }
  for (const section of found.sections) {
    const id = idOf(section)
    if (section.kind === "draft") {
      draft = [draft, wholeText(section, draftHeading)].filter((text) => text !== "").join("\n\n")
      draftOf ||= section.key
      continue
    }
    if (section.kind === "quoted") {
      add(section)
      continue
    }
    const own = known.get(id)
    const isFirst = own !== undefined && !seen.has(id)
    seen.add(id)
    if (isFirst) anchor = id
    const text = wholeText(section, own?.heading ?? section.heading)
    const isOurs = digestOf(section) === section.digest
    if (text === "" || (isFirst && (text === own.text || isOurs))) continue
    // Items that waited and do not wait any more.
    if (own === undefined && isOurs && (section.kind === "approval" || section.kind === "note")) continue
    if (isFirst && section.kind === "person" && draft === "") {
      draft = text
      draftOf = section.key
    } else add({ kind: "quoted", key: "", heading: `${section.heading || section.kind} (changed by hand)`, text })
  }
  const sections = [
    ...(added.get("") ?? []),
    ...conversation.flatMap((section) => [
      { ...section, digest: digestOf(section) },
      ...(added.get(idOf(section)) ?? []),
    ]),
    { kind: "draft", key: draftOf, heading: draftHeading, digest: "", text: draft } as const,
  ]
  const { lead } = found
  const revision = sha256(JSON.stringify([lead, [...added], draft, draftOf])).slice(0, 32)
  const sent = known.get(idOf({ kind: "person", key: draftOf }))?.text ?? ""
  return { lead, sections, draft, sent, revision }
}

/** The same with another draft. */
export function withDraft({ lead, sections }: MergedDocument, text: string): ParsedDocument {
  const draft = { kind: "draft", key: "", digest: "", heading: draftHeading, text } as const
  return { lead, sections: [...sections.filter(({ kind }) => kind !== "draft"), draft] }
}

function idOf({ kind, key }: Pick<Section, "kind" | "key">): string {
  return `${kind} ${key}`
}

function digestOf({ heading, text }: Pick<Section, "heading" | "text">): string {
  return sha256(`${heading}\n${text}`).slice(0, 12)
}

/** A heading that is not the section's own was written by somebody, and is text. */
function wholeText({ heading, text }: Section, own: string): string {
  if (heading === own || heading === "") return text
  return text === "" ? `## ${heading}` : `## ${heading}\n\n${text}`
}
