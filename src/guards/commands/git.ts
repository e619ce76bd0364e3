import type { Unprovable, Word } from "./shell-line.ts"
import { readOptions, type OptionTable } from "./program-options.ts"
import type { ProgramUse } from "./programs.ts"

/** Options before the subcommand that only change the output. */
const harmless = new Set(["--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects"])

/** The words without such options and without `-C folder`: `git --no-pager log` becomes `git log`. */
export function gitWords(words: readonly string[]): readonly string[] {
  const start = 1 + subcommandAt(words.slice(1))
  return start <= 1 ? words : [words[0]!, ...words.slice(start)]
}

/** Replaces other names of `git push` by `push`. */
export function pushWords(words: readonly string[]): readonly string[] {
  if (!/^(?:.*\/)?git$/.test(words[0] ?? "")) return words
  return words.flatMap((word, at) => {
    if (word === "subtree" && words[at + 1] === "push") return []
    return word === "send-pack" || word === "http-push" ? ["push"] : [word]
  })
}

/** The subcommand if it is not git's own: an alias from the settings, or an unknown program. */
export function foreignSubcommand(words: readonly string[]): string | undefined {
  const [, subcommand] = gitWords(words)
  return subcommand === undefined || subcommand.startsWith("-") || own.has(subcommand) ? undefined : subcommand
}

const own = new Set(
  "add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree config count-objects describe diagnose diff diff-files diff-index diff-tree difftool fast-export fetch fetch-pack fmt-merge-msg for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object help index-pack init log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-tree mktag mktree multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase reflog remote repack replace rerere reset restore rev-list rev-parse revert rm send-pack shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info var verify-commit verify-pack verify-tag version whatchanged worktree write-tree".split(
    " ",
  ),
)

/** The index of the subcommand. */
function subcommandAt(args: readonly string[]): number {
  let at = 0
  for (;;) {
    if (harmless.has(args[at] ?? "")) at++
    else if (args[at] === "-C") at += 2
    else return at
  }
}

/** Finds the files git reads. A subcommand without a table is refused if it or an option may run another program. */
export function readGit(args: readonly Word[]): ProgramUse | Unprovable {
  const start = subcommandAt(args.map(({ value }) => value))
  const subcommand = args[start]
  if (subcommand === undefined) return { because: "git has no subcommand" }
  const folder = folderOf(args.slice(0, start))
  if (folder !== undefined && "because" in folder) return folder
  if (subcommand.value.startsWith("-") && subcommand.value !== "--version" && subcommand.value !== "--help")
    return { because: `the option '${subcommand.value}' of git may use other settings or programs` }
  const rest = args.slice(start + 1)
  if (folder !== undefined && rest.some(({ glob }) => glob !== -1))
    return { because: "the shell expands a pattern in another folder than the one of '-C'" }
  const use = readSubcommand(subcommand.value, rest)
  return "because" in use || folder === undefined ? use : { ...use, changesTo: folder }
}

/** The folder of `-C`. */
function folderOf(options: readonly Word[]): Word | Unprovable | undefined {
  const first = options.findIndex(({ value }) => value === "-C")
  if (first === -1) return undefined
  const folder = options[first + 1]!
  if (folder.glob !== -1 || folder.value === "" || options.slice(first + 2).some(({ value }) => value === "-C"))
    return { because: "it is not clear where '-C' leads" }
  return folder
}

function readSubcommand(subcommand: string, rest: readonly Word[]): ProgramUse | Unprovable {
  const table = tables.get(subcommand)
  if (table === undefined) return readOther(subcommand, rest)
  const attached = subcommand === "status" ? untracked : contextLines
  const read = readOptions(
    rest.filter(({ value }) => !attached.test(value)),
    table,
  )
  if ("because" in read) return read
  if (rest.some(({ value }) => value.includes("%G"))) return { because: "git runs a program to check a signature" }
  if (read.operands.some(({ glob }) => glob === 0) && !read.ended)
    return { because: "a pattern could stand for an option" }
  const patterns = read.operands.filter(({ value, glob }) => glob === -1 && /[*?[]|^:[(!^]/.test(value))
  const pattern = patterns.find(({ value }) => !/^\*\.\w+$/.test(value))
  // A pattern that matches nothing in the shell goes to git, which also matches hidden files and files in subfolders.
  const unexpanded = read.operands.find(({ value, glob }) => glob !== -1 && !kindOfFiles.test(value))
  const unclear = pattern ?? unexpanded
  if (unclear !== undefined) return { because: `git looks for files by the pattern '${unclear.value}'` }
  const shown = read.operands.flatMap(({ value }) => shownPaths(value))
  const [relative, workspaceReads] = [true, false].map((isRelative) =>
    shown.filter((path) => /^\.\.?\//.test(path) === isRelative).map(word),
  )
  // For a pattern such as `*.ts`, sample names show whether such files may be read.
  const samples = patterns.flatMap(({ value }) => [word(value.slice(1)), word(`x${value.slice(1)}`)])
  const named = read.operands.filter((operand) => isPath(operand) && !patterns.includes(operand))
  // Outside a repository, git compares the content of two folders.
  const recursiveReads = subcommand === "diff" && read.operands.length === 2 ? read.operands : []
  return {
    reads: [...named, ...relative!, ...samples],
    workspaceReads: workspaceReads!,
    recursiveReads,
    repository: true,
  }
}

/** The path in `HEAD:path`, `:path` and `:/path`: committed, staged, or from the top of the repository. */
function shownPaths(value: string): string[] {
  const colons = [...value.matchAll(/:/g)].map(({ index }) => index)
  return colons.map((at) => value.slice(at + 1).replace(/^\/+/, "")).filter((path) => path !== "")
}

function word(value: string): Word {
  return { value, glob: -1 }
}

/** Reports whether an operand may be a path and not only a revision. Absolute paths and `..` always count as paths. */
function isPath({ value }: Word): boolean {
  if (value.startsWith("/") || value.split("/").includes("..")) return true
  return !/[~^:@{}]|\.\./.test(value) && value !== ""
}

const running =
  /^(?:config|grep|bisect|submodule|rebase|difftool|mergetool|filter-branch|hook|worktree|daemon|instaweb|gui|gitk|credential.*|send-email|am|apply|fast-import|shell|upload-pack|receive-pack|http-backend|remote-.*|maintenance|sparse-checkout|alias|clean|gc|update-ref|replace|notes|init|clone|bundle|archive|help|web--browse|svn|p4|cvs.*|quiltimport|interpret-trailers|var|for-each-repo|checkout-index|read-tree|write-tree|symbolic-ref)$/
const runningOption =
  /^(?:-x|-O.*|-c|-C|-i|-p|-e|--exec.*|--upload.*|--receive.*|--open.*|--output.*|-o.*|--config.*|--template.*|--separate.*|--git-dir.*|--work-tree.*|--edit.*|--patch.*|--interactive|--ext.*|--textconv.*|--no-index|--tool.*|--gui|--trailer.*|--editor.*|--server-option.*|--recurse-sub.*|--file.*|-F.*|--pathspec-from.*|--template.*|--strategy.*|-s.*)$/

function readOther(subcommand: string, args: readonly Word[]): ProgramUse | Unprovable {
  if (running.test(subcommand)) return { because: `'git ${subcommand}' may run other programs` }
  for (const { value, glob } of args) {
    if (glob === 0) return { because: `the pattern '${value}' could stand for an option` }
    if (runningOption.test(value))
      return { because: `the option '${value}' of git may run something or write elsewhere` }
    if (/^ext::|::/.test(value)) return { because: `git fetches '${value}' with another program` }
  }
  return { repository: true }
}

/** Options with a value in the same word. */
const untracked = /^-u(?:no|all|normal)$/
const contextLines = /^-U\d+$/

/** A pattern for files with one ending in one folder. */
const kindOfFiles = /^(?:[\w.-]+\/)*[\w-]*\*[\w-]*\.(?!env)\w+$/

const status: OptionTable = {
  letters: "sbvzu",
  names:
    "short branch porcelain long verbose untracked-files ignored column no-column ahead-behind no-ahead-behind renames no-renames find-renames show-stash ignore-submodules null",
}

/**
 * The options that log, diff and show share. Left out: --output, --ext-diff, --textconv, --no-index, -O, -G with
 * nothing.
 */
const logOptions: OptionTable = {
  letters: "psuwbzagimc1MCDBRtEFP",
  valued: "nSGl",
  names:
    "oneline patch no-patch stat shortstat numstat dirstat summary name-only name-status graph all branches tags remotes decorate no-decorate no-color color color-words word-diff reverse merges no-merges first-parent follow raw minimal patience histogram diff-algorithm abbrev abbrev-commit no-abbrev-commit full-index cached staged merge-base relative no-relative ignore-all-space ignore-space-change ignore-space-at-eol ignore-blank-lines ignore-cr-at-eol function-context pretty format relative-date no-walk topo-order date-order author-date-order no-ext-diff no-textconv quiet exit-code check find-renames find-copies find-copies-harder no-renames left-right cherry-pick cherry cherry-mark boundary simplify-merges full-history notes no-notes no-prefix compact-summary unified inter-hunk-context stat-width submodule ignore-submodules text pickaxe-all pickaxe-regex all-match invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp diff-filter parents children walk-reflogs no-expand-tabs ancestry-path diff-merges ours theirs base no-indent-heuristic indent-heuristic binary src-prefix dst-prefix line-prefix ws-error-highlight color-moved null encoding source mailmap use-mailmap show-pulls glob exclude not",
  valuedNames: "since until after before author committer grep max-count skip date",
  counts: true,
}

const tables = new Map<string, OptionTable>([
  ["status", status],
  ["log", logOptions],
  ["diff", { ...logOptions, letters: "psuwbzagimcMCDBR0123t" }],
  ["show", logOptions],
  ["shortlog", { letters: "nsec", names: "numbered summary email group no-merges since until all" }],
  ["blame", { letters: "lstfnpewcbMC", valued: "L", names: "porcelain line-porcelain show-name show-number show-email root date abbrev" }],
  ["rev-parse", { names: "abbrev-ref short verify show-toplevel show-prefix show-cdup git-dir is-inside-work-tree symbolic-full-name quiet all branches tags", letters: "q" }],
  ["ls-files", { letters: "cdomiksutvzf", names: "cached deleted others modified ignored stage unmerged killed exclude-standard full-name error-unmatch directory eol deduplicate", valued: "x", valuedNames: "exclude" }],
  ["ls-tree", { letters: "drtlz", names: "name-only name-status long full-name full-tree abbrev" }],
  ["branch", { letters: "arv", names: "list all remotes verbose show-current merged no-merged contains no-contains points-at sort format column no-column color no-color" }],
  ["tag", { letters: "l", names: "list merged no-merged contains no-contains points-at sort format column" }],
  ["remote", { letters: "v", names: "verbose" }],
  ["describe", { names: "all tags always dirty long abbrev match exclude contains first-parent" }],
  ["cat-file", { letters: "tsep" }],
  ["stash", { names: "" }],
  ["--version", {}],
  ["reflog", { letters: "n", names: "all oneline", counts: true }],
]) // prettier-ignore
