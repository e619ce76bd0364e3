import { failure } from "../../model/ending.ts"

/** Refuses a text in which a line only says that something was left out, unless that line was there before. */
export function refusePlaceholder(fresh: string, before: string): void {
  const found = fresh.split(/\r\n?|\n/).find((line) => isPlaceholder(line) && !before.includes(line.trim()))
  if (found === undefined) return
  throw failure(
    `The new text leaves something out: "${found.trim()}" would stand in the file as it is. Write out what belongs there, or make a smaller edit.`,
    { toolCode: "placeholder" },
  )
}

/** `// ... rest of the code`, `# … existing code …`, `(rest of methods unchanged)`: nothing but dots and such words. */
export function isPlaceholder(line: string): boolean {
  const words = bare(line)
  if (words === undefined) return false
  const hasDots = /\.\.\.|…/.test(words)
  const isWhole = /^\(.*\)$/.test(words)
  const plain = words
    .replace(/[.…()[\],:;-]+/g, " ")
    .replace(/\s+/g, " ")
    .trim()
    .toLowerCase()
  return (hasDots || isWhole) && leftOut.test(plain)
}

/** Without the signs of a comment around it; undefined when there is more on the line than could be one. */
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
