import { gitWords, pushWords } from "./git.ts"
import { canonicalProgramName } from "./wrappers.ts"
import { sendsOut } from "./sends-out.ts"

export interface ProgramEffects {
  /** The files it deletes, as written; undefined when it deletes nothing. */
  readonly deletes?: readonly string[]
  readonly network: boolean
  /** True if it may send files or texts to another machine, and not only fetch some. */
  readonly sendsOut: boolean
}

/** Returns a program's known effects besides reading and writing: deleting files and using the network. */
export function programEffects(words: readonly string[]): ProgramEffects {
  const name = canonicalProgramName(words[0] ?? "")
  const plain = name === "git" ? pushWords(gitWords(words)) : words
  const args = plain.slice(1)
  const subcommand = args.find((word) => !word.startsWith("-"))
  const network = networkPrograms.has(name) || networkSubcommands.get(name)?.has(subcommand ?? "") === true
  return { deletes: deletedBy(name, args), network, sendsOut: sendsOut(name, args) }
}

function deletedBy(name: string, args: readonly string[]): readonly string[] | undefined {
  if (deletingPrograms.has(name)) return operandsOf(args)
  if (name === "git" && (args[0] === "rm" || args[0] === "clean")) return operandsOf(args.slice(1))
  if (name !== "find" || !args.includes("-delete")) return undefined
  const start = args.findIndex((word) => /^[-!(]/.test(word))
  return args.slice(0, start)
}

/** The words that are not options; after `--` all of them. */
function operandsOf(args: readonly string[]): readonly string[] {
  const end = args.indexOf("--")
  const before = end === -1 ? args : args.slice(0, end)
  return [...before.filter((word) => !word.startsWith("-")), ...(end === -1 ? [] : args.slice(end + 1))]
}

const deletingPrograms = setOf("rm rmdir unlink shred")

const networkPrograms = setOf(
  "curl wget aria2c ssh scp sftp rsync rclone ftp telnet nc ncat netcat socat ping dig nslookup whois gh glab aws gcloud az kubectl mail mailx sendmail mutt msmtp twine",
)

const packages = setOf("install i ci add update upgrade publish exec dlx create audit outdated")

const networkSubcommands = new Map([
  ["git", setOf("push pull fetch clone ls-remote submodule")],
  ...["npm", "pnpm", "yarn", "bun", "pip", "pip3", "uv", "poetry", "cargo", "gem", "bundle", "composer", "brew"].map(
    (name) => [name, packages] as const,
  ),
  ["go", setOf("get install mod")],
  ...["apt", "apt-get", "dnf", "yum", "apk"].map((name) => [name, setOf("install add update upgrade")] as const),
  ...["docker", "podman"].map((name) => [name, setOf("pull push login build run")] as const),
])

function setOf(names: string): ReadonlySet<string> {
  return new Set(names.split(" "))
}
