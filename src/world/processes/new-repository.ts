import { lstatSync, readdirSync, type Stats } from "node:fs"
import { basename, dirname, join } from "node:path"
import { gitWords } from "../../policy/commands/git.ts"
import { lex } from "../../policy/commands/lexer.ts"
import { variablesIn } from "../../policy/commands/variables.ts"
import { sealedBecause } from "../../policy/paths-lists.ts"
import { readPlain } from "../../policy/plain-file.ts"
import { onDisk } from "./byte-names.ts"
import { isRepositoryPart, looksLikeRepository } from "./repository-names.ts"

/**
 * Whether a script says in plain words that it makes a git repository, so that whoever agreed to it has read it: `git
 * init` or `git clone` between other plain commands, with nothing in it that a shell would replace.
 */
export function makesRepository(command: string): boolean {
  const read = lex(command)
  if ("because" in read) return false
  const { segments, joins, loops } = read.line
  const isPlain = segments.every(
    ({ words, redirects }) =>
      redirects.length === 0 && words.every(({ value, glob }) => glob === -1 && variablesIn(value).length === 0),
  )
  if (!isPlain || loops.length > 0 || joins.some((join) => join.startsWith("|"))) return false
  return segments.some(({ words, assignments }) => {
    const [program, subcommand = ""] = gitWords(words.map(({ value }) => value))
    return program === "git" && assignments.length === 0 && /^(?:init|clone)$/.test(subcommand)
  })
}

/**
 * Whether a new thing is a repository that a command said it would make, or a part of one, and nothing in that runs. Then it
 * may stay.
 */
export function isHarmlessRepository(path: string, command: string): boolean {
  if (!makesRepository(command)) return false
  const repository = repositoryOf(path)
  return repository !== undefined && repositoryFault(repository) === undefined
}

/** The repository that a path is, or is what git reads in; undefined when it is sealed for another reason. */
export function repositoryOf(path: string): string | undefined {
  if (basename(path) === ".git") return path
  if (sealedBecause(`${basename(dirname(path))}/${basename(path)}/x`, "write") !== undefined) return undefined
  if (isRepository(path)) return path
  return isRepositoryPart(basename(path)) && isRepository(dirname(path)) ? dirname(path) : undefined
}

/**
 * What is in a new repository besides what `git init` and a clone from another machine leave there; undefined when nothing
 * is. Then nothing in it makes git run a program: no setting but harmless ones, no hook, no link, nothing borrowed from
 * elsewhere, and no file that has another name by which it could be changed later.
 */
export function repositoryFault(path: string): string | undefined {
  try {
    const config = () => readPlain(join(path, "config"), { most: mostBytes })
    return entryFault(path, "", lstatSync(path)) ?? configFault(config(), basename(path) === ".git" ? settings : bare)
  } catch (error) {
    return error instanceof TooMuch ? "it is too large to be looked at" : "not all of it can be read"
  }
}

function isRepository(path: string): boolean {
  try {
    return looksLikeRepository(readdirSync(onDisk(path)))
  } catch {
    return false
  }
}

/** Names in a repository; what is in a folder is said by the folder. A folder has a slash at its end. */
const known =
  /^((HEAD|ORIG_HEAD|FETCH_HEAD|COMMIT_EDITMSG|config|description|index|packed-refs|shallow)|(branches|hooks|info|logs|objects|refs)\/|hooks\/[\w-]+\.sample|info\/(exclude|refs)|(logs|refs)\/.+|objects\/(info|pack|[0-9a-f]{2})\/|objects\/[0-9a-f]{2}\/[0-9a-f]{38,62}|objects\/pack\/pack-[0-9a-f]{40,64}\.\w+|objects\/info\/(packs|commit-graph))$/

const mostEntries = 50_000
/** Of its settings. */
const mostBytes = 1_000_000
class TooMuch extends Error {}

function entryFault(path: string, name: string, facts: Stats, count = { left: mostEntries }): string | undefined {
  if (count.left-- === 0) throw new TooMuch()
  if (facts.isDirectory()) {
    if (name !== "" && !known.test(`${name}/`)) return `it has ${name}/`
    for (const one of readdirSync(path)) {
      const inner = name === "" ? one : `${name}/${one}`
      const fault = entryFault(join(path, one), inner, lstatSync(join(path, one)), count)
      if (fault !== undefined) return fault
    }
    return undefined
  }
  if (name === "" || !facts.isFile()) return `${name || "it"} is no plain file or folder`
  if (!known.test(name)) return `it has ${name}`
  // A clone from here shares objects with what it was cloned from; their names say what is in them.
  return facts.nlink === 1 || name.startsWith("objects/") ? undefined : `${name} has another name`
}

const isSwitch = (value: string) => /^(true|false)$/.test(value)

/** What each kind of section may say. */
type Settings = Readonly<Record<string, Readonly<Record<string, (value: string) => boolean>>>>

const settings: Settings = {
  core: {
    repositoryformatversion: (value) => value === "0",
    bare: (value) => value === "false",
    filemode: isSwitch,
    logallrefupdates: isSwitch,
    ignorecase: isSwitch,
    precomposeunicode: isSwitch,
    symlinks: isSwitch,
  },
  remote: {
    url: (value) =>
      /^((https?|git|ssh):\/\/([\w.+-]+@)?[\w[][\w.:[\]-]*\/|[\w][\w.-]*@[\w][\w.-]*:)[\w./~+-]+$/.test(value),
    fetch: (value) => /^\+?refs\/[\w./*+-]+:refs\/[\w./*+-]+$/.test(value),
  },
  branch: {
    remote: (value) => /^\w[\w.-]*$/.test(value),
    merge: (value) => /^refs\/heads\/[\w./+-]+$/.test(value),
  },
}

/** The same for one that has another name than `.git`: it may say that nobody works in it. */
const bare: Settings = {
  ...settings,
  core: { ...settings.core, bare: isSwitch },
  remote: { ...settings.remote, mirror: isSwitch },
}

/** Every line must be one that is known, written as git writes it: no comment, no quoting, no line that goes on. */
function configFault(text: string, allowed: Settings): string | undefined {
  let section: string | undefined
  for (const line of text.split("\n")) {
    if (line === "") continue
    const title = /^\[(core|(?:remote|branch) "[\w./+-]+")\]$/.exec(line)?.[1]
    if (title !== undefined) {
      section = title.split(" ")[0]
      continue
    }
    const [, key = "", value = ""] = /^\t(\w+) = (.*)$/.exec(line) ?? []
    const isKnown = section !== undefined && Object.hasOwn(allowed[section] ?? {}, key)
    if (!isKnown || !allowed[section!]![key]!(value)) return `its config says '${line.trim().slice(0, 100)}'`
  }
  return undefined
}
