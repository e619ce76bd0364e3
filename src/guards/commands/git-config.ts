/** A setting of a git configuration. `key` is in lower case, with `*` for the name of a subsection. */
export interface GitSetting {
  readonly key: string
  readonly value: string
}

/** Parses a git configuration; undefined if git would reject it, or if versions of git differ about it. */
export function readGitConfig(text: string): readonly GitSetting[] | undefined {
  const source = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n")
  if (/[^\t\n\x20-\x7e\x80-\uFFFF]/.test(source)) return undefined
  const settings: GitSetting[] = []
  let section: string | undefined
  let at = 0
  const take = (pattern: RegExp): RegExpExecArray | undefined => {
    pattern.lastIndex = at
    const found = pattern.exec(source) ?? undefined
    at += found?.[0].length ?? 0
    return found
  }
  while (at < source.length) {
    if (take(space) !== undefined) continue
    const header = take(sectionHeader)
    if (header !== undefined) {
      section = header[1]!.toLowerCase() + (header[2] === undefined ? "" : ".*")
      continue
    }
    const name = take(settingName)
    if (name === undefined || section === undefined) return undefined
    const value = name[2] === "=" ? unquoted(take(settingValue)![0]) : "true"
    take(comment)
    if (at < source.length && source[at] !== "\n") return undefined
    settings.push({ key: `${section}.${name[1]!.toLowerCase()}`, value })
  }
  return settings
}

const comment = /[#;][^\n]*/y
const space = /[ \t\n]+|[#;][^\n]*/y
const sectionHeader = /\[([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?\]/y
const settingName = /([A-Za-z][A-Za-z0-9-]*)[ \t]*(=|(?=\n)|$)/y
/** Up to a comment or the end of the line; a backslash before the end continues the value on the next line. */
const settingValue = /(?:[^"\\\n#;]|\\[\\"tnb\n]|"(?:[^"\\\n]|\\[\\"tnb\n])*")*/y

function unquoted(raw: string): string {
  const letters = new Map([["t", "\t"], ["n", "\n"], ["b", "\b"], ["\n", ""]]) // prettier-ignore
  return raw.replace(/"|\\([^])/g, (_, letter?: string) => (letter === undefined ? "" : (letters.get(letter) ?? letter))).trim() // prettier-ignore
}

/**
 * The first setting that is not known to be harmless, because it may make git run a program or read a file. The caller
 * handles `core.worktree`, which depends on its value.
 */
export function foreignSetting(settings: readonly GitSetting[]): string | undefined {
  return settings.find(({ key, value }) => !harmless.has(key) || (namesRemote.test(key) && value.includes("::")))?.key
}

/** Git fetches `helper::address` with a program of that name. */
const namesRemote = /\.(?:url|pushurl|remote|pushremote|pushdefault)$/

const harmless = new Set(
  Object.entries({
    core: "repositoryformatversion filemode bare logallrefupdates ignorecase symlinks precomposeunicode autocrlf eol safecrlf quotepath longpaths hidedotfiles trustctime untrackedcache preloadindex",
    "remote.*": "url pushurl fetch tagopt prune gh-resolved",
    "branch.*": "remote pushremote merge rebase description vscode-merge-base",
    "submodule.*": "url active branch",
    submodule: "active",
    extensions: "worktreeconfig",
    remote: "pushdefault",
    user: "name email",
    init: "defaultbranch",
    pull: "rebase ff",
    push: "default autosetupremote",
    fetch: "prune",
    gc: "auto",
    color: "ui",
    status: "showuntrackedfiles",
  }).flatMap(([section, names]) => names.split(" ").map((name) => `${section}.${name}`)),
)
