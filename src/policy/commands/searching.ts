import type { Word } from "./line.ts"
import type { OptionTable } from "./options.ts"
import { here, is, isFile, reader } from "./reader.ts"

const grepTable: OptionTable = {
  letters: "EFGPivwxycLlqsobHhnTUzaIrRZ",
  valued: "eABCmf",
  names:
    "extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case invert-match word-regexp line-regexp count color colour files-without-match files-with-matches quiet silent no-messages only-matching byte-offset with-filename no-filename line-number initial-tab null null-data text recursive dereference-recursive binary line-buffered version help",
  valuedNames:
    "regexp file after-context before-context context max-count include exclude exclude-dir label binary-files",
  reading: "f file",
  counts: true,
  patterns: true,
}

/** grep and its like. With `-r` it reads all that is in a folder. */
export const grep = reader(grepTable, ({ operands, given }) => {
  const hasPattern = ["e", "f", "regexp", "file"].some((name) => given.has(name))
  if (!hasPattern && isExpanded(operands[0])) return is(unclearPattern)
  const named = operands.slice(hasPattern ? 0 : 1).filter(isFile)
  const walks = ["r", "R", "recursive", "dereference-recursive"].some((name) => given.has(name))
  if (!walks) return { reads: named }
  if (given.has("R") || given.has("dereference-recursive")) return is("'grep -R' follows links to anywhere")
  return { walks: named.length === 0 ? [here] : named, hidden: true }
})

/** rg, which reads all that is in a folder and is neither hidden nor ignored. */
export const ripgrep = reader(
  {
    letters: "ivwxclnNsSoUFPHhIqpa0bu",
    valued: "eABCmMgtTrjEd",
    names:
      "ignore-case invert-match word-regexp line-regexp count count-matches files files-with-matches files-without-match line-number no-line-number case-sensitive smart-case only-matching multiline multiline-dotall fixed-strings pcre2 with-filename no-filename heading no-heading quiet pretty text null byte-offset json stats trim vimgrep column no-column crlf debug no-messages passthru sort-files type-list version help no-config one-file-system hidden no-ignore no-ignore-vcs unicode no-unicode block-buffered line-buffered",
    valuedNames:
      "regexp after-context before-context context max-count max-columns glob iglob type type-not replace threads encoding max-depth max-filesize sort sortr color colors context-separator engine dfa-size-limit regex-size-limit",
    counts: true,
  },
  ({ operands, given, values }) => {
    const noPattern = ["e", "regexp", "files", "type-list"].some((name) => given.has(name))
    if (!noPattern && isExpanded(operands[0])) return is(unclearPattern)
    const named = operands.slice(noPattern ? 0 : 1).filter(isFile)
    // A glob brings hidden and ignored files back.
    const hidden = ["u", "hidden", "no-ignore", "no-ignore-vcs", "g", "glob", "iglob"].some((name) => given.has(name))
    const types = values.flatMap(([name, value]) => (name === "t" || name === "type" ? [value] : []))
    const unhides = types.flatMap((type) => endings.get(type) ?? ["*"])
    const orInput = operands.length === (noPattern ? 0 : 1) && !given.has("files") && !given.has("type-list")
    return { walks: named.length === 0 ? [here] : named, hidden, orInput, ...(hidden ? {} : { unhides }) }
  },
)

/** What the files of a type are called. A type brings hidden files with such names back, and `sh` has `.env`. */
const endings = new Map(
  [
    "ts cts mts tsx",
    "js cjs jsx mjs vue",
    "py pyi",
    "rust rs",
    "go",
    "css scss",
    "html htm ejs",
    "md markdown mdown mdwn mdx mkd mkdn",
  ].map((line) => [line.split(" ")[0]!, line.split(" ").map((ending) => `*.${ending}`)]),
)

/** Of the names that it stands for, only the first would be what is looked for. */
const isExpanded = (word: Word | undefined) => word !== undefined && word.glob !== -1
const unclearPattern = "what it looks for is expanded to names of files; put it in quotes"
