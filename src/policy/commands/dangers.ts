import { posix } from "node:path"
import { knownName } from "./wrappers.ts"

/** Where the words stand: what relative paths begin from. */
export interface Ground {
  readonly workspace: string
  readonly cwd: string
}

/** What nobody may do here, whatever the configuration says; the words go on from "because". */
export function dangerOf(words: readonly string[], ground: Ground): string | undefined {
  const [program = "", ...args] = words
  const name = knownName(program)
  if (/^(?:qm|quartermaster)(?:\.c?js)?$/.test(name)) return "an agent does not use Quartermaster's own command line"
  if (
    args.some((word) => /(?:^|\/)(?:qm|quartermaster)(?:\.c?js)?$/.test(word)) &&
    runners.test(`${name} ${args[0] ?? ""}`)
  )
    return "an agent does not use Quartermaster's own command line"
  if (/^mkfs(?:\.|$)|^mke2fs$|^mkswap$|^wipefs$/.test(name)) return "it makes a new file system"
  if (name === "dd") {
    const device = args.map((word) => /^of=(\/dev\/.*)/.exec(word)?.[1]).find((path) => path !== undefined)
    return device === undefined || harmlessDevice.test(device) ? undefined : "it writes over a device"
  }
  return name === "rm" ? removal(args, ground) : undefined
}

/** A function that starts itself twice in the background. */
export function isForkBomb(script: string): boolean {
  return /(?<![\w:.])([\w:.]{1,40})\s{0,9}\(\s{0,9}\)\s{0,9}\{[^}]{0,200}?\1\s{0,9}\|\s{0,9}\1\s{0,9}&/.test(script)
}

/** What would start a file or a package by its name. */
const runners = /^(?:node|npx|bunx?|deno|pnpx|tsx)\b|^(?:npm|pnpm|yarn) (?:exec|x|dlx)$/

export const harmlessDevice = /^\/dev\/(?:null|zero|stdout|stderr|stdin)$/

function removal(args: readonly string[], ground: Ground): string | undefined {
  const isRecursive = args.some((word) => /^-[a-z]*r|^--recursive$|^--no-preserve-root$/i.test(word))
  if (!isRecursive) return undefined
  const target = args.find((word) => !word.startsWith("-") && isRoot(word, ground))
  return target === undefined ? undefined : `it removes all of '${target}'`
}

/** `/`, a folder right below it, the home folder, the workspace and what is above it; or all that is in one of them. */
function isRoot(path: string, { workspace, cwd }: Ground): boolean {
  const folder = path.replace(/\/+\.?\*?$/, "") || "/"
  if (path === "*" || path.startsWith("./*")) return false
  if (/^(?:~[\w-]*|\$HOME|\$\{HOME\})$/.test(folder)) return true
  if (/[$~*?]/.test(folder)) return false
  const resolved = posix.resolve(cwd, folder)
  const isAbove = workspace === resolved || workspace.startsWith(resolved === "/" ? "/" : `${resolved}/`)
  return isAbove || (path.startsWith("/") && resolved.split("/").length <= 2)
}
