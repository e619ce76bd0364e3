import { parsedJson } from "./json-text.ts"

/** A column's type: its name, its number in PostgreSQL, and the number of an array's elements or 0. */
export interface ValueType {
  readonly name: string
  readonly type: string
  readonly id: number
  readonly element: number
}

/** The numbers that PostgreSQL gives its own types. They never change. */
const types = {
  bool: 16,
  bytea: 17,
  int8: 20,
  int2: 21,
  int4: 23,
  oid: 26,
  json: 114,
  float4: 700,
  float8: 701,
  timestamp: 1114,
  timestamptz: 1184,
  jsonb: 3802,
} as const

/** A value as JSON keeps it, from the text that the server sent. */
export function jsonValue(text: string | null, { id, element }: Pick<ValueType, "id" | "element">): unknown {
  if (text === null) return null
  if (element !== 0) return readArray(text, element)
  switch (id) {
    case types.bool:
      return text === "t"
    case types.int2:
    case types.int4:
    case types.oid:
    case types.int8:
      return Number.isSafeInteger(Number(text)) ? Number(text) : text
    case types.float4:
    case types.float8:
      return Number.isFinite(Number(text)) ? Number(text) : text
    case types.bytea:
      return Buffer.from(text.slice(2), "hex").toString("base64")
    case types.json:
    case types.jsonb:
      return parsedJson(text)
    case types.timestamp:
    case types.timestamptz:
      return isoTime(text)
    default:
      return text
  }
}

/** `2026-01-02 03:04:05.6+00` to `2026-01-02T03:04:05.6Z`. Infinity and years before Christ stay as they are. */
function isoTime(text: string): string {
  return /^\d{4,} BC|BC$|infinity$/.test(text) ? text : text.replace(" ", "T").replace(/\+00$/, "Z")
}

/** Reads an array as PostgreSQL writes it: `{1,NULL,"a \"b\"",{2}}`, with bounds before it or not. */
function readArray(text: string, element: number): unknown[] {
  const pattern = /[{},]|"((?:[^"\\]|\\[^])*)"|[^{},"]+/gy
  pattern.lastIndex = text.indexOf("{")
  const stack: unknown[][] = [[]]
  for (const [token, quoted] of text.matchAll(pattern)) {
    if (token === "{") stack.push([])
    else if (token === "}") {
      const done = stack.pop()!
      stack.at(-1)!.push(done)
    } else if (quoted !== undefined)
      stack.at(-1)!.push(jsonValue(quoted.replaceAll(/\\([^])/g, "$1"), { id: element, element: 0 }))
    else if (token !== ",") stack.at(-1)!.push(token === "NULL" ? null : jsonValue(token, { id: element, element: 0 }))
  }
  return stack[0]![0] as unknown[]
}
