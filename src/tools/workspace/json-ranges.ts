/** A JSON value and where in its text it stands. */
export interface JsonRange {
  readonly start: number
  /** Behind its last character. */
  readonly end: number
  readonly members?: ReadonlyMap<string, JsonMember>
  readonly items?: readonly JsonRange[]
}

export interface JsonMember {
  /** Where its name begins. */
  readonly nameStart: number
  readonly value: JsonRange
}

/** Where everything stands in a text that `JSON.parse` accepts. A name that is given twice counts the last time. */
export function jsonRanges(text: string): JsonRange {
  const place = { at: 0 }
  skipSpace(text, place)
  return valueAt(text, place)
}

interface Place {
  at: number
}

function valueAt(text: string, place: Place): JsonRange {
  const start = place.at
  switch (text[start]) {
    case "{":
      return objectAt(text, place)
    case "[":
      return arrayAt(text, place)
    case '"':
      passString(text, place)
      return { start, end: place.at }
    default:
      while (place.at < text.length && !/[\s,\]}]/.test(text[place.at]!)) place.at++
      return { start, end: place.at }
  }
}

function objectAt(text: string, place: Place): JsonRange {
  const start = place.at++
  const members = new Map<string, JsonMember>()
  for (;;) {
    skipSpace(text, place)
    if (text[place.at] === "}") return { start, end: ++place.at, members }
    const nameStart = place.at
    passString(text, place)
    const name = JSON.parse(text.slice(nameStart, place.at)) as string
    skipSpace(text, place)
    place.at++
    skipSpace(text, place)
    members.set(name, { nameStart, value: valueAt(text, place) })
    skipSpace(text, place)
    if (text[place.at] === ",") place.at++
  }
}

function arrayAt(text: string, place: Place): JsonRange {
  const start = place.at++
  const items: JsonRange[] = []
  for (;;) {
    skipSpace(text, place)
    if (text[place.at] === "]") return { start, end: ++place.at, items }
    items.push(valueAt(text, place))
    skipSpace(text, place)
    if (text[place.at] === ",") place.at++
  }
}

function passString(text: string, place: Place): void {
  for (place.at++; text[place.at] !== '"'; place.at++) if (text[place.at] === "\\") place.at++
  place.at++
}

function skipSpace(text: string, place: Place): void {
  for (;;) {
    const character = text[place.at]
    if (character !== " " && character !== "\n" && character !== "\r" && character !== "\t") return
    place.at++
  }
}
