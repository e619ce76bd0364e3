import { failure } from "../../core/ending.ts"

/** Refuses a text with a line such as `// ... rest of the code`, unless that line was there before. */
export function refusePlaceholder(fresh: string, before: string): void {
  const found = fresh.split(/\r\n?|\n/).find((line) => isPlaceholder(line) && !before.includes(line.trim()))
  if (found === undefined) return
  throw failure(
    `The new text leaves something out: "${found.trim()}" would be written to the file as it is. Write the full text, or make a smaller edit.`,
    { toolCode: "placeholder" },
  )
}

/**
 * Reports whether a line is only a placeholder: `// ... rest of the code`, `# … existing code …`, `(rest of methods
 * unchanged)`.
 */
export function isPlaceholder(line: string): boolean {
  const words = bare(line)
  if (words === undefined) return false
  const hasDots = /\.\.\.|\u2026/.test(words)
  const isWhole = /^\(.*\)$/.test(words)
  const plain = words
    .replace(/[.\u2026()[\],:;-]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase()
  return (hasDots || isWhole) && leftOut.test(plain)
}

/** The line without comment signs; undefined if it is too short or too long for a placeholder. */
function bare(line: string): string | undefined {
  const trimmed = line.trim()
  if (trimmed.length < 6 || trimmed.length > 120) return undefined
  return trimmed
    .replace(/^(\/\/+|\/\*+|<!--|\{\/\*|#+|--|;+|%+|\*+|"""|''')\s*/, "")
    .replace(/\s*(\*+\/\}?|-->|"""|''')$/, "")
}

const what =
  "(code|file|function|functions|method|methods|class|classes|implementation|content|contents|text|lines|logic|imports|tests|module|component|document|body|script|it)"
const leftOut = new RegExp(
  `^((the |your |all )?(rest|remainder) of (the |your |this |my )?(\\w+ ){0,2}${what}` +
    `|(the |your |all )?(existing|remaining|previous|original|other|unchanged|same) (\\w+ )?${what}` +
    `|${what} (unchanged|omitted|continues|remains|stays)|same as (before|above)|(rest|remainder)( (is|remains|stays))? (unchanged|omitted|the same))` +
    `( (here|goes here|as is|as before|is|are|remains?|stays?|the same|same|unchanged|omitted|for brevity|continues|above|below|follows))*$`,
)
