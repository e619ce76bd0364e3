import { failure } from "../../core/ending.ts"
import { toolRef, dialectText, type DialectText } from "../../core/dialect-text.ts"
import { normalizeLineEndings, withLineEndings, type NormalizedText } from "./line-endings.ts"
import { countLines } from "./lines.ts"
import { nearestPlace, oldTextName } from "./nearest-place.ts"
import { refusePlaceholder } from "./placeholders.ts"

/** One change of a text: of an exact piece of it, or of whole lines. */
export interface Edit {
  readonly oldText?: string
  readonly newText: string
  readonly replaceAll?: boolean
  /** 1-based and inclusive. An `endLine` of `startLine - 1` inserts without removing. */
  readonly startLine?: number
  readonly endLine?: number
}

/** A part of the raw text and its replacement. */
export interface Region {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** A replacement in the normalized text, before the common start and end are trimmed. */
interface Change {
  readonly start: number
  readonly end: number
  readonly fresh: string
  /** The number of its edit, from 1. */
  readonly number: number
}

/**
 * Plans the changes of a text. Every edit is applied to the original text, not to the result of others. If two overlap,
 * one is not found or one changes nothing, all are refused.
 */
export async function planEdits(raw: string, edits: readonly Edit[], path: string): Promise<Region[]> {
  const normal = normalizeLineEndings(raw)
  let starts: number[] | undefined
  const lineStarts = () => (starts ??= lineStartsOf(normal.text))
  const changes: Change[] = []
  for (const [index, edit] of edits.entries()) {
    const which = { number: index + 1, of: edits.length, path }
    for (const change of changesOf(edit, normal, lineStarts, which)) changes.push(change)
    refuseTooMany(changes.length, path)
  }
  changes.sort((a, b) => a.start - b.start || a.end - b.end)
  changes.forEach((change, index) => refuseOverlap(changes[index - 1], change))
  const regions: Region[] = []
  for (const change of changes) regions.push(await regionOf(change, normal))
  return regions
}

/** The text with the regions replaced. */
export function applyRegions(raw: string, regions: readonly Region[]): string {
  const parts: string[] = []
  let at = 0
  for (const { start, end, text } of regions) {
    parts.push(raw.slice(at, start), text)
    at = end
  }
  return parts.join("") + raw.slice(at)
}

interface Which {
  readonly number: number
  readonly of: number
  readonly path: string
}

function changesOf(edit: Edit, normal: NormalizedText, lineStarts: () => readonly number[], which: Which): Change[] {
  return edit.startLine === undefined
    ? textChanges(edit, normal, which)
    : [lineChange(edit, edit.startLine, normal, lineStarts(), which)]
}

function textChanges(edit: Edit, normal: NormalizedText, which: Which): Change[] {
  const old = normal.normalize(edit.oldText ?? "")
  const fresh = freshText(edit, normal)
  if (old === fresh)
    throw unchanged(which, dialectText`${oldTextName} and ${toolRef("edit_file", "newText")} are the same`)
  refusePlaceholder(edit.newText, edit.oldText ?? "")
  const places = placesOf(old, normal.text)
  if (places.length === 0) {
    throw failure(dialectText`${nameOf(which)} is not in ${which.path}. ${nearestPlace(normal.text, old)}`, {
      toolCode: "no_match",
    })
  }
  if (places.length > 1 && edit.replaceAll !== true) {
    const lines = places.slice(0, 10).map((place) => countLines(normal.text.slice(0, place) + "x", "\n"))
    const more = places.length > 10 ? ` and ${places.length - 10} more` : ""
    throw failure(
      dialectText`${nameOf(which)} is ${places.length} times in ${which.path}, in lines ${lines.join(", ")}${more}. Add lines around it until it is unique, or set ${toolRef("edit_file", "replaceAll")}.`,
      { toolCode: "several_matches" },
    )
  }
  refuseTooMany(places.length, which.path)
  return places.map((start) => ({ start, end: start + old.length, fresh, number: which.number }))
}

function lineChange(
  edit: Edit,
  startLine: number,
  normal: NormalizedText,
  starts: readonly number[],
  which: Which,
): Change {
  const { text } = normal
  const endLine = edit.endLine ?? startLine
  const total = starts.length
  const insertsBehind = startLine === total + 1 && endLine === total
  if ((startLine > total && !insertsBehind) || endLine > total || endLine < startLine - 1) {
    throw failure(
      `${which.path} has ${total} line${total === 1 ? "" : "s"}, so lines ${startLine}-${endLine} do not exist. Read it again to see its lines.`,
      { toolCode: "no_such_line" },
    )
  }
  const start = starts[startLine - 1] ?? text.length
  const end = starts[endLine] ?? text.length
  const old = text.slice(start, end)
  refusePlaceholder(edit.newText, old)
  const fresh = fittingLines(freshText(edit, normal), text, start, end)
  if (old === fresh) throw unchanged(which, "the lines are already like that")
  return { start, end, fresh, number: which.number }
}

/** Whole lines. The last one ends like the line it replaces. */
function fittingLines(fresh: string, text: string, start: number, end: number): string {
  if (fresh === "") return ""
  const isLast = end === text.length
  const before = isLast && start === end && text !== "" && !text.endsWith("\n") ? "\n" : ""
  const open = isLast && !text.endsWith("\n")
  return `${before}${fresh}${open || fresh.endsWith("\n") ? "" : "\n"}`
}

/** In a text without line endings, new ones are kept as given. */
function freshText({ newText }: Edit, normal: NormalizedText): string {
  return normal.text.includes("\n") ? normal.normalize(newText) : newText
}

async function regionOf({ start, end, fresh }: Change, normal: NormalizedText): Promise<Region> {
  const old = normal.text.slice(start, end)
  const front = commonStart(old, fresh)
  const back = commonEnd(old, fresh, front)
  const from = start + front
  const to = end - back
  const text = await withLineEndings(normal, from, to, fresh.slice(front, fresh.length - back))
  return { start: normal.rawOffset(from), end: normal.rawOffset(to), text }
}

/** The length of the common start. It never splits a surrogate pair. */
export function commonStart(a: string, b: string): number {
  const most = Math.min(a.length, b.length)
  let length = 0
  while (length < most && a.charCodeAt(length) === b.charCodeAt(length)) length++
  return length > 0 && isHigh(a.charCodeAt(length - 1)) ? length - 1 : length
}

/** The length of the common end behind the first `front` characters. It never splits a surrogate pair. */
export function commonEnd(a: string, b: string, front: number): number {
  const most = Math.min(a.length, b.length) - front
  let length = 0
  while (length < most && a.charCodeAt(a.length - 1 - length) === b.charCodeAt(b.length - 1 - length)) length++
  return length > 0 && isLow(a.charCodeAt(a.length - length)) ? length - 1 : length
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

function placesOf(part: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

function lineStartsOf(text: string): number[] {
  const starts: number[] = []
  for (let at = 0; at < text.length;) {
    starts.push(at)
    const found = text.indexOf("\n", at)
    at = found === -1 ? text.length : found + 1
  }
  return starts
}

/** More replacements would block the process for seconds. */
const maxReplacements = 100_000

function refuseTooMany(count: number, path: string): void {
  if (count <= maxReplacements) return
  throw failure(
    `The edit would replace ${count} places in ${path}, and at most ${maxReplacements} can be replaced at once. Change it with a command instead.`,
    { toolCode: "too_many_matches" },
  )
}

function refuseOverlap(before: Change | undefined, change: Change): void {
  if (before === undefined || before.end <= change.start) return
  throw failure(`Edits ${before.number} and ${change.number} overlap. Leave one out, or combine them into one edit.`, {
    toolCode: "overlapping_edits",
  })
}

function unchanged(which: Which, why: string | DialectText): Error {
  const edit = which.of === 1 ? "The edit" : `Edit ${which.number}`
  return failure(dialectText`${edit} changes nothing: ${why}. Say what to change.`, { toolCode: "no_change" })
}

function nameOf({ number, of }: Which): DialectText {
  return of === 1 ? dialectText`The ${oldTextName}` : dialectText`The ${oldTextName} of edit ${number}`
}
