/**
 * Reports whether a program with these arguments may send files or texts to another machine. Programs that could are
 * believed to only fetch where their arguments say so.
 */
export function sendsOut(name: string, args: readonly string[]): boolean {
  const [first, second] = args.filter((word) => !word.startsWith("-"))
  if (senders.has(name)) return true
  if (name === "curl") return curlSends(args)
  if (name === "wget") return args.some((word) => /^--(?:post|body|method)/.test(word))
  if (copiers.has(name)) return copiesOut(args)
  // `gh pr view`, `kubectl get`, `aws s3 ls`
  if (clients.has(name)) return ![first, second].some((word) => word !== undefined && reading.test(word))
  return first !== undefined && sendingSubcommands.get(name)?.includes(first) === true
}

const senders = new Set("ssh sftp ftp telnet nc ncat netcat socat mail mailx sendmail mutt msmtp".split(" "))
const copiers = new Set(["scp", "rsync"])
const clients = new Set(["gh", "glab", "aws", "gcloud", "az", "kubectl", "rclone"])
const reading = /^(?:ls|list|get|view|show|describe|status|diff|logs|version|help)(?:-|$)/

const sendingSubcommands = new Map<string, readonly string[]>([
  ["git", ["push"]],
  ...["npm", "pnpm", "yarn", "bun", "uv", "poetry", "cargo"].map((name) => [name, ["publish"]] as const),
  ["gem", ["push"]],
  ["twine", ["upload"]],
  ...["docker", "podman"].map((name) => [name, ["push"]] as const),
])

/** To another machine, unless it is plainly the other way round: `scp host:file folder`. */
function copiesOut(args: readonly string[]): boolean {
  const operands = args.filter((word) => !word.startsWith("-"))
  const isElsewhere = (word: string | undefined) => word !== undefined && /^[^/]*:/.test(word)
  const fetches = operands.length === 2 && isElsewhere(operands[0]) && !isElsewhere(operands[1])
  return operands.some(isElsewhere) && !fetches
}

/** curl with a body, a form, a file, another method than GET and HEAD, or arguments from a file. */
function curlSends(args: readonly string[]): boolean {
  return args.some((word, at) => {
    if (word.startsWith("--")) {
      const [name = "", value = args[at + 1] ?? ""] = word.slice(2).split("=", 2)
      if (name === "request") return changes(value)
      // Names may be shortened as long as they are clear.
      return ["data", "form", "json", "upload-file", "url-query", "config"].some(
        (each) => name.startsWith(each) || (name.length > 2 && each.startsWith(name)),
      )
    }
    if (!word.startsWith("-")) return false
    const end = word.search(withValue)
    if (end === -1) return false
    const value = word.slice(end + 1) || (args[at + 1] ?? "")
    if (word[end] === "X") return changes(value)
    return "dFTK".includes(word[end]!) || (word[end] === "H" && value.startsWith("@"))
  })
}

/** The letters of curl that take a value: the rest of the word, or the next one. */
const withValue = /[dFTKXHAbcCDeEhmoPQrtuUwxyYz]/

function changes(method: string): boolean {
  return !["GET", "HEAD"].includes(method.toUpperCase())
}
