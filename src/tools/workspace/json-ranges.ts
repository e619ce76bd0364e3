/** The position of a JSON value in its text. */
export interface JsonRange {
  readonly start: number
  /** After its last character. */
  readonly end: number
  readonly members?: ReadonlyMap<string, JsonMember>
  readonly items?: readonly JsonRange[]
}

export interface JsonMember {
  /** The start of its name. */
  readonly nameStart: number
  readonly value: JsonRange
}

/** The positions of all values in a text that `JSON.parse` accepts. Of a repeated name, the last one counts. */
export function jsonRanges(text: string): JsonRange {
  const cursor = { at: 0 }
  skipSpace(text, cursor)
  return valueAt(text, cursor)
}

interface Cursor {
  at: number
}

function valueAt(text: string, cursor: Cursor): JsonRange {
  const start = cursor.at
  switch (text[start]) {
    case "{":
      return objectAt(text, cursor)
    case "[":
      return arrayAt(text, cursor)
    case '"':
      passString(text, cursor)
      return { start, end: cursor.at }
    default:
      while (cursor.at < text.length && !/[\s,\]}]/.test(text[cursor.at]!)) cursor.at++
      return { start, end: cursor.at }
  }
}

function objectAt(text: string, cursor: Cursor): JsonRange {
  const start = cursor.at++
  const members = new Map<string, JsonMember>()
  for (;;) {
    skipSpace(text, cursor)
    if (text[cursor.at] === "}") return { start, end: ++cursor.at, members }
    const nameStart = cursor.at
    passString(text, cursor)
    const name = JSON.parse(text.slice(nameStart, cursor.at)) as string
    skipSpace(text, cursor)
    cursor.at++
    skipSpace(text, cursor)
    members.set(name, { nameStart, value: valueAt(text, cursor) })
    skipSpace(text, cursor)
    if (text[cursor.at] === ",") cursor.at++
  }
}

function arrayAt(text: string, cursor: Cursor): JsonRange {
  const start = cursor.at++
  const items: JsonRange[] = []
  for (;;) {
    skipSpace(text, cursor)
    if (text[cursor.at] === "]") return { start, end: ++cursor.at, items }
    items.push(valueAt(text, cursor))
    skipSpace(text, cursor)
    if (text[cursor.at] === ",") cursor.at++
  }
}

function passString(text: string, cursor: Cursor): void {
  for (cursor.at++; text[cursor.at] !== '"'; cursor.at++) if (text[cursor.at] === "\\") cursor.at++
  cursor.at++
}

function skipSpace(text: string, cursor: Cursor): void {
  for (;;) {
    const character = text[cursor.at]
    if (character !== " " && character !== "\n" && character !== "\r" && character !== "\t") return
    cursor.at++
  }
}
