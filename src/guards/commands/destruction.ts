import { posix } from "node:path"
import type { Finding, GuardCheckOptions } from "../../core/guard.ts"
import { harmlessDevice } from "./dangers.ts"
import { resolveIn, type Disk } from "./disk.ts"
import type { CommandContext } from "./command-context.ts"
import { gitDestroys } from "./git-destruction.ts"
import { programEffects } from "./program-effects.ts"
import { displayWords } from "./prove.ts"
import type { ScanResult } from "./scan-result.ts"
import { canonicalProgramName } from "./wrappers.ts"

/** The place in which a script runs, and its rights there. */
interface Place extends Pick<CommandContext, "disk" | "paths"> {
  readonly script: string
  readonly folders: readonly string[]
  readonly call: GuardCheckOptions
}

/**
 * Asks about what a script visibly deletes or overwrites, however it is wrapped. An allow rule lifts this ask. What a
 * program does by itself, or a name that only a variable holds, is not seen.
 */
export function findDestruction(
  scan: ScanResult,
  script: string,
  folder: string,
  { disk, paths }: CommandContext,
  call: GuardCheckOptions,
): readonly Finding[] {
  const place: Place = { disk, paths, call, script, folders: reachedFolders(scan, script, folder, disk) }
  const commands = scan.commands.filter(({ words }) => destroys(words, place)).map(({ words }) => displayWords(words))
  const redirects = [...scan.redirects, ...redirectsOfLongScript(script)]
    .filter(
      ({ operator, target }) => overwriting.test(operator) && !/^(?:\d+|-)$/.test(target) && exists(target, place),
    )
    .map(({ target }) => displayWords([">", target]))
  const parts = [...new Set([...commands, ...redirects])].slice(0, 5)
  if (parts.length === 0) return []
  const sentence = `It deletes or overwrites something, and a person looks at that first, also in the mode 'sandbox': ${parts.map((part) => `'${part}'`).join(", ")}.`
  const reason = { check: "guard", source: "tools.shell.mode", code: "command_destroys", params: { parts }, sentence }
  return [{ verdict: "ask", isLiftable: true, sandboxed: true, reason }]
}

const overwriting = /^(?:>|>\||&>|>&)$/

/** The parsers do not read longer scripts, which mostly are here-documents with a redirect before them. */
const longScript = 20_000

function redirectsOfLongScript(script: string): ScanResult["redirects"] {
  if (script.length <= longScript) return []
  const found = script.matchAll(/(?<![>&\d<=-])>\|?[ \t]*(["']?)([^\s;&|<>()"']{1,500})\1/g)
  return Array.from(found, ([, , target]) => ({ operator: ">", target: target! }))
}

function destroys(words: readonly string[], place: Place): boolean {
  const name = canonicalProgramName(words[0] ?? "")
  const args = words.slice(1)
  if (name === "git") return gitDestroys(args, (path) => exists(path, place) || existsAsFolder(path, place))
  const { deletes } = programEffects(words)
  if (deletes !== undefined)
    return deletes.length === 0 || !deletes.every((path) => isTemporary(path, place)) ? !onlySaysHow(args) : false
  const overwritten = overwrittenBy(name, args)
  return (
    overwritten.files.some((path) => isUnknown(path) || exists(path, place)) ||
    overwritten.folders.some((path) => existsAsFolder(path, place))
  )
}

/** `rm --help` deletes nothing. */
function onlySaysHow(args: readonly string[]): boolean {
  return args.length === 1 && /^--(?:help|version)$/.test(args[0]!)
}

interface Overwritten {
  readonly files: readonly string[]
  /** Folders whose files are replaced by those of another one. */
  readonly folders: readonly string[]
}

const nothing: Overwritten = { files: [], folders: [] }

/** The files that a program replaces if they exist. */
function overwrittenBy(name: string, args: readonly string[]): Overwritten {
  const plain = args.filter((word) => !word.startsWith("-"))
  const has = (letter: string, option: string) =>
    args.some((word) => (/^-[A-Za-z]+$/.test(word) && word.includes(letter)) || word.startsWith(`--${option}`))
  if (name === "truncate") return { files: plain, folders: [] }
  if (name === "tee") return has("a", "append") ? nothing : { files: plain, folders: [] }
  if (name === "dd") return { files: args.flatMap((word) => /^of=(.+)$/.exec(word)?.[1] ?? []), folders: [] }
  if (name === "rsync" && args.some((word) => /^--(?:del|remove-source)/.test(word)))
    return { files: ["$"], folders: [] }
  if (!/^(?:cp|mv|ln|install)$/.test(name) || has("n", "no-clobber")) return nothing
  if (name === "ln" && !has("f", "force")) return nothing
  return copied(args, plain, has("r", "recursive") || has("R", "recursive") || has("a", "archive"))
}

/** The target itself or, when that is a folder, the sources' names in it. */
function copied(args: readonly string[], plain: readonly string[], isDeep: boolean): Overwritten {
  const at = args.findIndex((word) => /^(?:-t|--target-directory)$/.test(word))
  const named = args.flatMap((word) => /^(?:--target-directory=|-t)(.+)$/.exec(word)?.[1] ?? [])[0]
  const target = at === -1 ? (named ?? plain.at(-1)) : args[at + 1]
  if (target === undefined) return nothing
  const sources = plain.filter((word, index) => word !== target || index < plain.indexOf(target))
  const inside = sources.map((source) => `${target}/${posix.basename(source)}`)
  // The names that a variable or a pattern stands for are not known.
  const known = [target, ...inside].filter((path) => !isUnknown(path))
  return { files: known, folders: isDeep ? inside : [] }
}

const isUnknown = (path: string) => /[$`*?]/.test(path)

/** Reports whether the path is an existing file. A name that only a variable holds is not looked up. */
function exists(path: string, place: Place): boolean {
  return placesOf(path, place).some((one) => place.disk.isFile(one) && !harmlessDevice.test(one))
}

function existsAsFolder(path: string, place: Place): boolean {
  return placesOf(path, place).some((one) => place.disk.realpath(one) !== undefined && !place.disk.isFile(one))
}

function placesOf(written: string, { folders, disk }: Place): string[] {
  const path = written.replace(/^\$(?:PWD|\{PWD\})\//, "./")
  if (path === "" || path.startsWith("~") || isUnknown(path)) return []
  return folders.map((folder) => resolveIn(folder, path, disk)).filter((one) => !one.startsWith("/dev/"))
}

/** In the sandbox, the folder for temporary files is empty and ends with the command. */
function isTemporary(path: string, place: Place): boolean {
  const { script, folders, disk, paths, call } = place
  const isNamed = /^\$(?:TMPDIR|\{TMPDIR\})\//.test(path) && !/TMPDIR=/.test(script)
  const plain = isNamed ? path.replace(/^[^/]+/, "/tmp") : path
  if (isUnknown(plain.replace(/[*?]/g, ""))) return false
  return folders.every((folder) => {
    const what = resolveIn(folder, plain, disk)
    // A workspace or an allowed path may be below /tmp.
    return (
      /^\/(?:var\/)?tmp\/./.test(what) &&
      paths([{ kind: "write", what }], call).findings.some(({ verdict }) => verdict === "deny")
    )
  })
}

const mostFolders = 50

/**
 * Every folder that the `cd`s of the script may lead to, in any order; only that of a single `cd` before everything
 * else.
 */
function reachedFolders({ commands }: ScanResult, script: string, folder: string, disk: Disk): readonly string[] {
  const [, first] = /^\s*cd\s+([\w./-]+)\s*&&/.exec(script) ?? []
  if (first !== undefined && !/\b(?:cd|pushd)\b/.test(script.slice(script.indexOf("&&")))) {
    const only = disk.realpath(resolveIn(folder, first, disk))
    if (only !== undefined && !disk.isFile(only)) return [only]
  }
  const folders = new Set([folder])
  for (const { words } of commands) {
    const [name, target] = words
    if ((name !== "cd" && name !== "pushd") || target === undefined || /[$`~*?]|^-/.test(target)) continue
    for (const known of Array.from(folders)) if (folders.size < mostFolders) folders.add(posix.resolve(known, target))
  }
  return [...folders]
}
