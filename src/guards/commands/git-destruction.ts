/** Reports whether git with these arguments throws away files or changes that were not committed. */
export function gitDestroys(args: readonly string[], exists: (path: string) => boolean): boolean {
  const start = subcommandAt(args)
  const rest = args.slice(start + 1)
  const end = rest.indexOf("--")
  const options = (end === -1 ? rest : rest.slice(0, end)).filter((word) => word.startsWith("-"))
  const operands = (end === -1 ? rest : rest.slice(0, end)).filter((word) => !word.startsWith("-"))
  const has = (letter: string, ...names: readonly string[]) =>
    options.some(
      (word) =>
        (/^-[A-Za-z]+$/.test(word) && word.includes(letter)) ||
        (word.length > 4 && names.some((name) => name.startsWith(word) || word.startsWith(`${name}=`))),
    )
  switch (args[start]) {
    case "clean":
      return !has("n", "--dry-run")
    case "rm":
      return !has("n", "--dry-run", "--cached")
    case "reset":
      return has("\0", "--hard", "--merge")
    case "restore":
      return !has("S", "--staged") || has("W", "--worktree")
    case "switch":
      return has("f", "--force", "--discard-changes")
    case "stash":
      return operands[0] === "drop" || operands[0] === "clear"
    case "checkout": {
      if (has("f", "--force", "--ours", "--theirs", "--pathspec-from-file") || has("p", "--patch")) return true
      const makesBranch = has("b", "--orphan") || has("B")
      const paths = end === -1 ? [] : rest.slice(end + 1)
      // `git checkout main a.ts` restores a file, and so does `git checkout a.ts`.
      return paths.length > 0 || (!makesBranch && (operands.length > 1 || operands.some(exists)))
    }
    default:
      return false
  }
}

const withValue = new Set(["-c", "-C", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--config-env"])

function subcommandAt(args: readonly string[]): number {
  let at = 0
  while (args[at]?.startsWith("-") === true) at += withValue.has(args[at]!) ? 2 : 1
  return at
}
