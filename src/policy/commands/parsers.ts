import { createRequire } from "node:module"
import type { Piece } from "./line.ts"
import { readWithTree, scanTree } from "./tree.ts"
import { readWithUnbash, scanUnbash } from "./unbash.ts"
import type { Seen } from "./seen.ts"

/** Both parsers. Each reads plain lines and, loosely, names what it sees anywhere in any script. */
export interface Parsers {
  readTree(script: string): Piece[] | undefined
  readUnbash(script: string): Piece[] | undefined
  scan(script: string): Seen
}

/** Loads both; it takes some milliseconds, so only a process that is asked about a command does it. */
export async function loadParsers(): Promise<Parsers> {
  const [{ Parser, Language }, unbash] = await Promise.all([import("web-tree-sitter"), import("unbash")])
  await Parser.init()
  const language = await Language.load(createRequire(import.meta.url).resolve("tree-sitter-bash/tree-sitter-bash.wasm"))
  const parser = new Parser()
  parser.setLanguage(language)
  return {
    readTree: (script) => readWithTree(parser, script),
    readUnbash: (script) => readWithUnbash(unbash, script),
    scan(script) {
      const seen: Seen = { commands: [], redirects: [] }
      if (depthOf(script) > deepest) return seen
      if (script.length <= mostForUnbash) scanUnbash(unbash, script, seen)
      if (script.length <= mostForTree) scanTree(parser, script, seen)
      return seen
    },
  }
}

/** What takes the parsers longer than a person waits, or breaks them, is left to the scan that needs none. */
const deepest = 30
const mostForUnbash = 20_000
const mostForTree = 4000

/** How deep brackets of any kind stand in each other, at most; quotes are not looked at. */
function depthOf(script: string): number {
  let depth = 0
  let most = 0
  for (const character of script) {
    if (character === "(" || character === "{" || character === "[") most = Math.max(most, ++depth)
    else if (character === ")" || character === "}" || character === "]") depth = Math.max(0, depth - 1)
  }
  return most
}
