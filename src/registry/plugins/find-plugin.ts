import { isObject } from "../../lib/is-object.ts"
import { createHash } from "node:crypto"
import { lstat, readdir, readFile, realpath, stat } from "node:fs/promises"
import { dirname, isAbsolute, join, relative, resolve } from "node:path"
import type { PluginDigest } from "./plugin.ts"

/** The location of a plugin: the file to import, and its folder when the configuration names a folder. */
export interface FoundPlugin {
  /** The configured path, absolute. */
  readonly path: string
  readonly file: string
  readonly folder?: string
}

const mostFiles = 2000
const mostBytes = 64 * 1024 * 1024

/** Finds a file, a folder with an entry file, or an installed package, relative to `base`. */
export async function findPlugin(given: string, base: string): Promise<FoundPlugin> {
  const path = isAbsolute(given) ? given : resolve(base, given)
  const there = await stat(path).catch(() => undefined)
  if (there?.isFile()) return { path, file: await realpath(path) }
  if (there?.isDirectory()) return inFolder(path)
  if (there !== undefined) throw new Error(`${path} is neither a file nor a folder. Name the plugin's file.`)
  const installed = isPackageName(given) ? await packageFolder(given, base) : undefined
  if (installed !== undefined) return inFolder(installed)
  const orInstall = isPackageName(given) ? ", or install the package of that name" : ""
  throw new Error(`There is no plugin at ${path}. Correct the path${orInstall}.`)
}

/** The SHA-256 of the file. For a folder: of the paths and contents of all files outside `node_modules`. */
export async function pluginDigest({ file, folder }: FoundPlugin): Promise<PluginDigest> {
  if (folder === undefined) return { sha256: sha256(await readFile(file)), covers: "file", files: 1 }
  const files = await filesIn(folder)
  const lines: string[] = []
  let bytes = 0
  for (const name of files) {
    const content = await readFile(join(folder, name))
    bytes += content.length
    if (bytes > mostBytes) throw tooMuch(folder)
    lines.push(`${sha256(content)} ${name.replaceAll("\\", "/")}\n`)
  }
  return { sha256: sha256(lines.join("")), covers: "folder", files: files.length }
}

async function inFolder(path: string): Promise<FoundPlugin> {
  const folder = await realpath(path)
  const names = [await entryOf(folder), "index.mjs", "index.js", "index.cjs"]
  for (const name of names) {
    if (name === undefined) continue
    const file = resolve(folder, name)
    if (relative(folder, file).startsWith("..")) {
      throw new Error(`The package.json in ${path} names ${name}, which is outside of the folder. Name a file in it.`)
    }
    if ((await stat(file).catch(() => undefined))?.isFile()) return { path, file: await realpath(file), folder }
  }
  throw new Error(`The folder ${path} has no index.js. Add one, or a package.json that names the file in "main".`)
}

/** The entry file of a package: `exports`, else `main`. */
async function entryOf(folder: string): Promise<string | undefined> {
  const text = await readFile(join(folder, "package.json"), "utf8").catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const { exports, main } = JSON.parse(text) as { exports?: unknown; main?: unknown }
    const entry = chosen(isObject(exports) && "." in exports ? exports["."] : exports) ?? main
    return typeof entry === "string" ? entry : undefined
  } catch {
    throw new Error(`${join(folder, "package.json")} is not valid JSON. Correct it.`)
  }
}

function chosen(exports: unknown): unknown {
  if (Array.isArray(exports)) return exports.map(chosen).find((one) => one !== undefined)
  if (!isObject(exports)) return exports
  for (const condition of ["node", "import", "default", "require"]) {
    const found = condition in exports ? chosen(exports[condition]) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

async function packageFolder(name: string, base: string): Promise<string | undefined> {
  for (let folder = base; ; folder = dirname(folder)) {
    const candidate = join(folder, "node_modules", name)
    if ((await stat(join(candidate, "package.json")).catch(() => undefined))?.isFile()) return candidate
    if (dirname(folder) === folder) return undefined
  }
}

function isPackageName(given: string): boolean {
  return /^(@[\w.~-]+\/)?[A-Za-z0-9~_][\w.~-]*$/.test(given)
}

async function filesIn(folder: string): Promise<string[]> {
  const files: string[] = []
  const open = [""]
  for (let below = open.pop(); below !== undefined; below = open.pop()) {
    for (const { name } of await readdir(join(folder, below), { withFileTypes: true })) {
      if (name === "node_modules" || name === ".git") continue
      const path = join(below, name)
      // Links to files are followed, as an import would do; links to folders are not.
      const there = await stat(join(folder, path)).catch(() => undefined)
      const isLink = (await lstat(join(folder, path))).isSymbolicLink()
      if (there?.isDirectory() && !isLink) open.push(path)
      else if (there?.isFile()) files.push(path)
      if (files.length > mostFiles) throw tooMuch(folder)
    }
  }
  return files.sort()
}

function tooMuch(folder: string): Error {
  return new Error(
    `The folder ${folder} has more than ${mostFiles} files or 64 MB. Name the plugin's file, or give it a folder of its own.`,
  )
}

function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex")
}
