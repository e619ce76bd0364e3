import type { Word } from "./shell-line.ts"
import type { OptionTable } from "./program-options.ts"
import { currentFolder, unprovable, isFileOperand, programReader } from "./program-reader.ts"

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

/** grep, egrep and fgrep. With `-r` they read everything in a folder. */
export const grep = programReader(grepTable, ({ operands, given }) => {
  const hasPattern = ["e", "f", "regexp", "file"].some((name) => given.has(name))
  if (!hasPattern && isExpanded(operands[0])) return unprovable(unclearPattern)
  const named = operands.slice(hasPattern ? 0 : 1).filter(isFileOperand)
  const isRecursive = ["r", "R", "recursive", "dereference-recursive"].some((name) => given.has(name))
  if (!isRecursive) return { reads: named }
  if (given.has("R") || given.has("dereference-recursive")) return unprovable("'grep -R' follows links to anywhere")
  return { recursiveReads: named.length === 0 ? [currentFolder] : named }
})

/** rg reads everything in a folder. Hidden files count too, because an ignore file may include them again. */
export const ripgrep = programReader(
  {
    letters: "ivwxclnNsSoUFPHhIqpa0bu",
    valued: "eABCmMgtTrjEd",
    names:
      "ignore-case invert-match word-regexp line-regexp count count-matches files files-with-matches files-without-match line-number no-line-number case-sensitive smart-case only-matching multiline multiline-dotall fixed-strings pcre2 with-filename no-filename heading no-heading quiet pretty text null byte-offset json stats trim vimgrep column no-column crlf debug no-messages passthru sort-files type-list version help no-config one-file-system hidden no-ignore no-ignore-vcs unicode no-unicode block-buffered line-buffered",
    valuedNames:
      "regexp after-context before-context context max-count max-columns glob iglob type type-not replace threads encoding max-depth max-filesize sort sortr color colors context-separator engine dfa-size-limit regex-size-limit",
    counts: true,
  },
  ({ operands, given }) => {
    const noPattern = ["e", "regexp", "files", "type-list"].some((name) => given.has(name))
    if (!noPattern && isExpanded(operands[0])) return unprovable(unclearPattern)
    const named = operands.slice(noPattern ? 0 : 1).filter(isFileOperand)
    const readsInputInstead = operands.length === (noPattern ? 0 : 1) && !given.has("files") && !given.has("type-list")
    return { recursiveReads: named.length === 0 ? [currentFolder] : named, readsInputInstead }
  },
)

/** The shell would replace the search pattern by file names. */
const isExpanded = (word: Word | undefined) => word !== undefined && word.glob !== -1
const unclearPattern = "the shell expands its search pattern to file names; put it in quotes"
