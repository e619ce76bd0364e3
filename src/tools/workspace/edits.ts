import { failure } from "../../model/ending.ts"
import { normalise, withEnds, type Normal } from "./line-ends.ts"
import { countLines } from "./lines.ts"
import { nearestPlace } from "./nearest-place.ts"
import { refusePlaceholder } from "./placeholders.ts"

/** One change of a text: of what stands there, or of whole lines. */
export interface Edit {
  readonly oldText?: string | undefined
  readonly newText: string
  readonly replaceAll?: boolean | undefined
  /** 1-based; both ends are in it. One less than `startLine` means that nothing is taken away. */
  readonly startLine?: number | undefined
  readonly endLine?: number | undefined
}

/** A part of the raw text and what comes in its place. */
export interface Region {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** The same with its places in the normal text, before what is alike at both ends was left out. */
interface Change {
  readonly start: number
  readonly end: number
  readonly fresh: string
  /** Which of the edits it belongs to, from 1. */
  readonly number: number
}

/**
 * Where a text changes and to what. Every edit is looked for in the text as it is, not as others leave it; two that touch
 * the same place, one that is not found, or one that changes nothing refuse them all.
 */
export async function planEdits(raw: string, edits: readonly Edit[], path: string): Promise<Region[]> {
  const normal = normalise(raw)
  const changes = edits
    .flatMap((edit, index) => changesOf(edit, normal, { number: index + 1, of: edits.length, path }))
    .sort((one, other) => one.start - other.start || one.end - other.end)
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

function changesOf(edit: Edit, normal: Normal, which: Which): Change[] {
  return edit.startLine === undefined
    ? textChanges(edit, normal, which)
    : [lineChange(edit, edit.startLine, normal, which)]
}

function textChanges(edit: Edit, normal: Normal, which: Which): Change[] {
  const old = normal.of(edit.oldText ?? "")
  const fresh = freshText(edit, normal)
  if (old === fresh) throw unchanged(which, "oldText and newText are the same")
  refusePlaceholder(edit.newText, edit.oldText ?? "")
  const places = placesOf(old, normal.text)
  if (places.length === 0) {
    throw failure(`${nameOf(which)} is not in ${which.path}. ${nearestPlace(normal.text, old)}`, {
      toolCode: "no_match",
    })
  }
  if (places.length > 1 && edit.replaceAll !== true) {
    const lines = places.slice(0, 10).map((place) => countLines(normal.text.slice(0, place) + "x", "\n"))
    const more = places.length > 10 ? ` and ${places.length - 10} more` : ""
    throw failure(
      `${nameOf(which)} is ${places.length} times in ${which.path}, in lines ${lines.join(", ")}${more}. Add lines around it until it is unique, or set replaceAll.`,
      { toolCode: "several_matches" },
    )
  }
  return places.map((start) => ({ start, end: start + old.length, fresh, number: which.number }))
}

function lineChange(edit: Edit, startLine: number, normal: Normal, which: Which): Change {
  const { text } = normal
  const endLine = edit.endLine ?? startLine
  const total = countLines(text, "\n")
  const insertsBehind = startLine === total + 1 && endLine === total
  if ((startLine > total && !insertsBehind) || endLine > total || endLine < startLine - 1) {
    throw failure(
      `${which.path} has ${total} line${total === 1 ? "" : "s"}, and ${startLine}-${endLine} is no part of it. Read it again to see its lines.`,
      { toolCode: "no_such_line" },
    )
  }
  const start = lineStart(text, startLine)
  const end = lineStart(text, endLine + 1)
  const old = text.slice(start, end)
  refusePlaceholder(edit.newText, old)
  const fresh = fittingLines(freshText(edit, normal), text, start, end)
  if (old === fresh) throw unchanged(which, "the lines are already like that")
  return { start, end, fresh, number: which.number }
}

/** Whole lines: the last one ends as the one whose place it takes. */
function fittingLines(fresh: string, text: string, start: number, end: number): string {
  if (fresh === "") return ""
  const isLast = end === text.length
  const before = isLast && start === end && text !== "" && !text.endsWith("\n") ? "\n" : ""
  const open = isLast && !text.endsWith("\n")
  return `${before}${fresh}${open || fresh.endsWith("\n") ? "" : "\n"}`
}

/** A text without any line end says nothing about which it has: the new ones come as they were given. */
function freshText({ newText }: Edit, normal: Normal): string {
  return normal.text.includes("\n") ? normal.of(newText) : newText
}

async function regionOf({ start, end, fresh }: Change, normal: Normal): Promise<Region> {
  const old = normal.text.slice(start, end)
  const front = commonFront(old, fresh)
  const back = commonBack(old, fresh, front)
  const from = start + front
  const to = end - back
  const text = await withEnds(normal, from, to, fresh.slice(front, fresh.length - back))
  return { start: normal.rawAt(from), end: normal.rawAt(to), text }
}

function commonFront(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one.charCodeAt(length) === other.charCodeAt(length)) length++
  return length > 0 && isHigh(one.charCodeAt(length - 1)) ? length - 1 : length
}

function commonBack(one: string, other: string, front: number): number {
  const most = Math.min(one.length, other.length) - front
  let length = 0
  while (length < most && one.charCodeAt(one.length - 1 - length) === other.charCodeAt(other.length - 1 - length))
    length++
  return length > 0 && isLow(one.charCodeAt(one.length - length)) ? length - 1 : length
}

const isHigh = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLow = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

function placesOf(part: string, text: string): number[] {
  const places: number[] = []
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + part.length)) places.push(at)
  return places
}

function lineStart(text: string, line: number): number {
  let at = 0
  for (let passed = 1; passed < line; passed++) {
    const found = text.indexOf("\n", at)
    if (found === -1) return text.length
    at = found + 1
  }
  return at
}

function refuseOverlap(before: Change | undefined, change: Change): void {
  if (before === undefined || before.end <= change.start) return
  throw failure(
    `Edits ${before.number} and ${change.number} change the same place. Make one of the two, or take them together.`,
    { toolCode: "overlapping_edits" },
  )
}

function unchanged(which: Which, why: string): Error {
  const name = which.of === 1 ? "The edit" : `Edit ${which.number}`
  return failure(`${name} changes nothing: ${why}. Say what shall be different.`, { toolCode: "no_change" })
}

function nameOf({ number, of }: Which): string {
  return of === 1 ? "The oldText" : `The oldText of edit ${number}`
}
