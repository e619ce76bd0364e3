/** What somebody calls things by: another name or phrase for each that sentences have. */
export type Names = Readonly<Record<string, string>>

interface Options {
  /** Whether what stands in quotes is a name too, as in the problems of an input; else it is a quote and stays. */
  readonly quoted?: boolean
}

/** The sentence with other names. What a command printed, lines of files, and what stands in quotes are quotes and stay. */
export function renamed(sentence: string, names: Names, { quoted = false }: Options = {}): string {
  const known = Object.keys(names).filter((name) => sentence.includes(name))
  if (known.length === 0) return sentence
  const [printed] = /\n(?:It had printed|On stderr)[^\n]*:\n[^]*$/.exec(sentence) ?? [""]
  const own = sentence.slice(0, sentence.length - printed.length)
  const longestFirst = known.sort((one, other) => other.length - one.length).map((name) => wholeWord(name, quoted))
  const pattern = new RegExp([...(quoted ? [] : [quote]), ...longestFirst].join("|"), "g")
  const lines = own.split("\n").map((line) => {
    return isOfFile.test(line) ? line : line.replace(pattern, (found) => names[found] ?? found)
  })
  return lines.join("\n") + printed
}

/** A line of a file stands behind its number, or is moved in. */
const isOfFile = /^(\d+: |\s)/

/** An apostrophe within a word begins no quote and ends none. */
const quote = String.raw`(?<![\w'"])(?:'[^'\n]*(?:'\w[^'\n]*)*'|"[^"\n]*")(?!\w)`

/** Not as a part of a word, a path or an option, and not as something that is called. */
function wholeWord(name: string, quoted: boolean): string {
  const marks = quoted ? "" : "'\""
  const before = /^\w/.test(name) ? String.raw`(?<![\w./\\${marks}-])` : ""
  return `${before}${name.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}(?![\\w/\\\\${marks}(-]|\\.\\w)`
}
