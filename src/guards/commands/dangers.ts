import { posix } from "node:path"
import { canonicalProgramName } from "./wrappers.ts"

/** The folders that relative paths are resolved against. */
export interface CommandFolders {
  readonly workspace: string
  readonly cwd: string
}

/** Why a command is denied whatever the configuration says; the text continues a sentence after "because". */
export function dangerOf(words: readonly string[], folders: CommandFolders): string | undefined {
  const [program = "", ...args] = words
  const name = canonicalProgramName(program)
  if (/^(?:qm|quartermaster)(?:\.c?js)?$/.test(name)) return "agents may not use Quartermaster's own command line"
  if (
    args.some((word) => /(?:^|\/)(?:qm|quartermaster)(?:\.c?js)?$/.test(word)) &&
    runners.test(`${name} ${args[0] ?? ""}`)
  )
    return "agents may not use Quartermaster's own command line"
  if (/^mkfs(?:\.|$)|^mke2fs$|^mkswap$|^wipefs$/.test(name)) return "it makes a new file system"
  if (name === "dd") {
    const device = args.map((word) => /^of=(\/dev\/.*)/.exec(word)?.[1]).find((path) => path !== undefined)
    return device === undefined || harmlessDevice.test(device) ? undefined : "it writes over a device"
  }
  return name === "rm" ? removal(args, folders) : undefined
}

/** A function that starts itself twice in the background. */
export function isForkBomb(script: string): boolean {
  return /(?<![\w:.])([\w:.]{1,40})\s{0,9}\(\s{0,9}\)\s{0,9}\{[^}]{0,200}?\1\s{0,9}\|\s{0,9}\1\s{0,9}&/.test(script)
}

/** Programs that run a file or a package by its name. */
const runners = /^(?:node|npx|bunx?|deno|pnpx|tsx)\b|^(?:npm|pnpm|yarn) (?:exec|x|dlx)$/

export const harmlessDevice = /^\/dev\/(?:null|zero|stdout|stderr|stdin)$/

function removal(args: readonly string[], folders: CommandFolders): string | undefined {
  const isRecursive = args.some((word) => /^-[a-z]*r|^--recursive$|^--no-preserve-root$/i.test(word))
  if (!isRecursive) return undefined
  const target = args.find((word) => !word.startsWith("-") && isRoot(word, folders))
  return target === undefined ? undefined : `it removes all of '${target}'`
}

/** `/`, a folder directly below it, the home folder, the workspace, a folder above it; or the whole content of one of them. */
function isRoot(path: string, { workspace, cwd }: CommandFolders): boolean {
  const folder = path.replace(/\/+\.?\*?$/, "") || "/"
  if (path === "*" || path.startsWith("./*")) return false
  if (/^(?:~[\w-]*|\$HOME|\$\{HOME\})$/.test(folder)) return true
  if (/[$~*?]/.test(folder)) return false
  const resolved = posix.resolve(cwd, folder)
  const isAbove = workspace === resolved || workspace.startsWith(resolved === "/" ? "/" : `${resolved}/`)
  return isAbove || (path.startsWith("/") && resolved.split("/").length <= 2)
}
