import { findBuiltFile } from "../../lib/package-file.ts"
import type { ShellToken } from "./shell-line.ts"
import { readWithTreeSitter, scanWithTreeSitter } from "./tree-sitter.ts"
import { readWithUnbash, scanWithUnbash } from "./unbash.ts"
import type { ScanResult } from "./scan-result.ts"

/** Both parsers. `read…` reads plain scripts only; `scan` finds commands anywhere in any script. */
export interface Parsers {
  readTreeSitter(script: string): ShellToken[] | undefined
  readUnbash(script: string): ShellToken[] | undefined
  scan(script: string): ScanResult
}

/** Loading takes some milliseconds, so it happens only in a process that checks a command. */
export async function loadParsers(): Promise<Parsers> {
  const [{ Parser, Language }, unbash] = await Promise.all([import("web-tree-sitter"), import("unbash")])
  await Parser.init()
  const language = await Language.load(grammarFile())
  const parser = new Parser()
  parser.setLanguage(language)
  return {
    readTreeSitter: (script) => readWithTreeSitter(parser, script),
    readUnbash: (script) => readWithUnbash(unbash, script),
    scan(script) {
      const result: ScanResult = { commands: [], redirects: [] }
      if (depthOf(script) > maxDepth) return result
      if (script.length <= maxForUnbash) scanWithUnbash(unbash, script, result)
      if (script.length <= maxForTreeSitter) scanWithTreeSitter(parser, script, result)
      return result
    },
  }
}

/** The build copies it out of the package tree-sitter-bash, whose other 18 MB are of no use here. */
function grammarFile(): string {
  const found = findBuiltFile("guards/commands/tree-sitter-bash.wasm")
  if (found === undefined) throw new Error("The shell grammar is not built. Run: npm run build")
  return found
}

/** Larger or deeper scripts make the parsers slow or crash them; only `looseCommands` searches those. */
const maxDepth = 30
const maxForUnbash = 20_000
const maxForTreeSitter = 4000

/** Returns the depth of nested brackets of any kind, ignoring quotes. */
function depthOf(script: string): number {
  let depth = 0
  let deepest = 0
  for (const character of script) {
    if (character === "(" || character === "{" || character === "[") deepest = Math.max(deepest, ++depth)
    else if (character === ")" || character === "}" || character === "]") depth = Math.max(0, depth - 1)
  }
  return deepest
}
