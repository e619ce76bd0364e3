import type { Parsers } from "./parsers.ts"
import { looseCommands } from "./loose-scan.ts"
import type { ScanResult, ScannedCommand } from "./scan-result.ts"
import { innerCommandStarts, canonicalProgramName, shells } from "./wrappers.ts"

/** Limits over all nested scripts together. */
const maxDepth = 8
const maxScripts = 200
const maxCharacters = 400_000

/** Every command that a script may run, as far as its text shows: in any part, behind wrappers, in nested scripts. */
export function searchScript(script: string, parsers: Parsers): ScanResult {
  return searchAll([script], parsers)
}

/** Every command that a command with these words may run, itself first. */
export function searchCommand(words: readonly string[], parsers: Parsers): readonly (readonly string[])[] {
  const all = withWrapped({ words })
  return [...all, ...searchAll(all.flatMap(scriptsIn), parsers).commands].map((command) => command.words)
}

function searchAll(scripts: readonly string[], parsers: Parsers): ScanResult {
  const result: ScanResult = { commands: [], redirects: [] }
  const known = new Set<string>()
  let charactersLeft = maxCharacters
  const open = scripts.map((text) => ({ text, depth: 0 }))
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { text, depth } = next
    if (known.has(text) || depth > maxDepth || (charactersLeft -= text.length) < 0) continue
    known.add(text)
    const scan = parsers.scan(text)
    result.redirects.push(...scan.redirects)
    const found = new Set<string>()
    for (const command of [...scan.commands, ...looseCommands(text)]) {
      const key = JSON.stringify(command)
      if (found.has(key)) continue
      found.add(key)
      for (const each of withWrapped(command)) {
        result.commands.push(each)
        if (open.length < maxScripts) for (const text of scriptsIn(each)) open.push({ text, depth: depth + 1 })
      }
    }
  }
  return result
}

/** The command itself, and the commands that its wrappers run. */
function withWrapped(command: ScannedCommand): ScannedCommand[] {
  const found: ScannedCommand[] = []
  const open: ScannedCommand[] = [command]
  for (let next = open.pop(); next !== undefined && found.length < 100; next = open.pop()) {
    const { words, input } = next
    found.push(next)
    for (const start of [...innerCommandStarts(words), ...findActionStarts(words)])
      open.push({ words: words.slice(start), input })
  }
  return found
}

/** Returns the starts of the commands of `find -exec` and its variants. */
function findActionStarts(words: readonly string[]): number[] {
  if (!/^find$|^fd(?:find)?$/.test(canonicalProgramName(words[0] ?? ""))) return []
  return words.flatMap((word, at) =>
    /^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(word) ? [at + 1] : [],
  )
}

/** Arguments and input that the command passes to a shell as scripts. */
function scriptsIn({ words, input }: ScannedCommand): string[] {
  const [program = "", ...args] = words
  const name = canonicalProgramName(program)
  const scripts: string[] = []
  if (name === "eval" || name === "ssh" || name === "watch" || name === "parallel") scripts.push(args.join(" "))
  if (name === "trap" || name === "alias" || name === "pee")
    scripts.push(...args.map((word) => word.replace(/^\w+=/, "")))
  if (
    shells.test(name) ||
    name === "su" ||
    name === "script" ||
    name === "ssh" ||
    name === "runuser" ||
    name === "flock"
  ) {
    for (const [at, word] of args.entries()) {
      const inline = /^--?(?:command|c)=([^]+)$/.exec(word)?.[1]
      if (inline !== undefined) scripts.push(inline)
      // Options may stand between `-c` and its script, and some shells take it as one word.
      if (/^-[A-Za-z]*c[A-Za-z]*$|^--command$/.test(word)) scripts.push(...args.slice(at + 1, at + 6))
      if (scripts.length > 50) break
    }
    if (input !== undefined && shells.test(name)) scripts.push(input)
  }
  return scripts.filter((text) => text.trim() !== "")
}
