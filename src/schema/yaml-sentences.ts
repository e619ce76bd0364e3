import { isCollection, isScalar, visit, type Document, type YAMLError } from "yaml"

/** A problem that the parser found, and what is around it. */
interface Found extends Pick<YAMLError, "code" | "message"> {
  offset: number
  /** The text from there to the next space or bracket. */
  word: string
  line: ReturnType<typeof lineAt>
  text: string
  document: Document
}

/** The problem and its remedy. `offset` is the place of the mistake, if the parser noticed it elsewhere. */
type Explained = string | { offset: number; sentence: string } | undefined

/** Explains a problem in plain words; with the parser's own for what is rare. */
export function explainYaml({ code, message, pos }: YAMLError, text: string, document: Document) {
  const [offset] = pos
  const word = /^[^\s,\]}]+/.exec(text.slice(offset))?.[0] ?? text.charAt(offset)
  const found = { code, message, offset, word, line: lineAt(text, offset), text, document }
  const explained = byCode[code]?.(found) ?? byMessage.find(([pattern]) => pattern.test(message))?.[1](found)
  return typeof explained === "object" ? explained : { offset, sentence: explained ?? parserWords(message) }
}

/** For what has no sentence of its own. */
export const parserWords = (message: string) =>
  `This is not valid YAML: ${message.replace(/;.*|[.:]?$/, ".")} Correct it here.`

/** `*x` that no `&x` comes before. */
export function unknownAnchor(name: string): string {
  return `In YAML *${name} repeats what &${name} marks, and nothing above is marked so. ${inQuotes(`*${name}`)}`
}

const reserved = ({ word }: Found) =>
  `A value that begins with ${word.charAt(0)} has a meaning of its own in YAML. ${inQuotes(word)}`

const noKey = ({ line }: Found) =>
  /^-\S/.test(line.after)
    ? "A dash that begins an item of a list needs a space after it: write '- '."
    : "This line is no key with a value. Write it as 'key: value', with a space after the colon."

const wrongIndent = ({ line }: Found) => ({
  offset: line.start + line.indent,
  sentence: "The indentation of this line fits none of those above. Begin it in the same column as what it belongs to.",
})

const byCode: Partial<Record<YAMLError["code"], (found: Found) => Explained>> = {
  TAB_AS_INDENT: () => "This line is indented with a tab, which YAML does not allow. Use spaces.",
  BAD_SCALAR_START: reserved,
  BAD_ALIAS: reserved,
  TAG_RESOLVE_FAILED: reserved,
  BLOCK_AS_IMPLICIT_KEY({ line, text }) {
    if (line.after.startsWith("? ")) return undefined
    if (/: |:$/.test(line.after))
      return `The text contains ': ', which YAML reads as another key. ${inQuotes(line.after)}`
    return {
      offset: line.end + /^\s*/.exec(text.slice(line.end))![0].length,
      sentence:
        "This line is indented deeper than the one above, which has its value already. Begin both in the same column.",
    }
  },
  MULTILINE_IMPLICIT_KEY: noKey,
  BLOCK_IN_FLOW: () =>
    "Inside { } or [ ] this begins another key. Put a comma before it, or quotes around a text that contains ': '.",
  BAD_DQ_ESCAPE: ({ text, offset }) =>
    `${text.slice(offset, offset + 2)} means nothing inside double quotes. Write \\\\ for a backslash, or use single quotes.`,
  MULTIPLE_DOCS: () => "The file contains several documents, separated by '---'. Keep one of them.",
}

const byMessage: readonly [RegExp, (found: Found) => Explained][] = [
  [/keys need to be followed by map values/, noKey],
  [/items must start at the same column|without - indicator/, wrongIndent],
  [
    /^Missing closing ["']quote/,
    ({ message, document, offset }) => {
      const quote = message.charAt("Missing closing ".length)
      return {
        offset: lastOpening(document, offset, quote),
        sentence: `The quote that opens here is never closed. Add ${quote} where the text ends.`,
      }
    },
  ],
  [
    /^Flow (?:map|sequence) .*end with a (\S)$/,
    ({ message, document, offset }) => {
      const [open, close] = message.endsWith("}") ? ["{", "}"] : ["[", "]"]
      return {
        offset: lastOpening(document, offset, open),
        sentence: `The ${open} that opens here is never closed. Add ${close} where it ends.`,
      }
    },
  ],
  [
    /^Unexpected block-seq-ind on same line/,
    () => "A list begins on a line of its own. Move the dash below the key, or write the items in [ ].",
  ],
  [/^Unexpected flow-(seq|map)-end/, ({ text, offset }) => `This ${text.charAt(offset)} closes nothing. Remove it.`],
  [/^Unexpected , in flow/, () => "There is nothing before this comma. Remove it."],
  [
    /^Unexpected scalar at node end/,
    ({ line }) =>
      line.before.trim() === ""
        ? "This line belongs to nothing above it. Correct its indentation, or write it as part of the list."
        : "Text follows a value that has ended. Put all of it inside one pair of quotes, or remove it.",
  ],
]

function inQuotes(text: string): string {
  const shown = text.trim().replace(/\s#.*$/, "")
  if (shown === "" || shown.length > 60) return "If you mean the text, put it in quotes."
  const quoted = /["\\]/.test(shown) ? `'${shown.replaceAll("'", "''")}'` : `"${shown}"`
  return `If you mean the text, put it in quotes: ${quoted}.`
}

function lineAt(text: string, offset: number) {
  const start = text.lastIndexOf("\n", offset - 1) + 1
  const newline = text.indexOf("\n", offset)
  const end = newline === -1 ? text.length : newline
  return {
    start,
    end,
    indent: /^\s*/.exec(text.slice(start, end))![0].length,
    before: text.slice(start, offset),
    after: text.slice(offset, end).trimEnd(),
  }
}

const quoteTypes: Readonly<Record<string, string>> = { '"': "QUOTE_DOUBLE", "'": "QUOTE_SINGLE" }

/** Finds the beginning of the last text or collection before the place that opens so. */
function lastOpening(document: Document, before: number, open: string): number {
  let found = before
  visit(document, {
    Node(_, node) {
      const start = node.range?.[0]
      if (start === undefined || start >= before) return
      const quote = quoteTypes[open]
      const isOpen =
        quote === undefined ? isCollection(node) && node.flow === true : isScalar(node) && node.type === quote
      if (isOpen) found = start
    },
  })
  return found
}
