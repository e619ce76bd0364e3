import type { Parsers } from "./parsers.ts"
import { looseCommands } from "./loose.ts"
import type { Seen, SeenCommand } from "./seen.ts"
import { innerStarts, knownName, shells } from "./wrappers.ts"

/** No script is looked at deeper, and no more scripts and text than this over all that are nested. */
const deepest = 8
const mostScripts = 200
const mostText = 400_000

/** Every command a script may come to, as far as text tells: in any part, behind wrappers, in scripts inside of it. */
export function search(script: string, parsers: Parsers): Seen {
  return searchAll([script], parsers)
}

/** Every command that a command with these words may come to, itself the first. */
export function searchBehind(words: readonly string[], parsers: Parsers): readonly (readonly string[])[] {
  const all = behind({ words })
  return [...all, ...searchAll(all.flatMap(scriptsIn), parsers).commands].map((command) => command.words)
}

function searchAll(scripts: readonly string[], parsers: Parsers): Seen {
  const seen: Seen = { commands: [], redirects: [] }
  const known = new Set<string>()
  let left = mostText
  const open = scripts.map((text) => ({ text, depth: 0 }))
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { text, depth } = next
    if (known.has(text) || depth > deepest || (left -= text.length) < 0) continue
    known.add(text)
    const found = parsers.scan(text)
    seen.redirects.push(...found.redirects)
    const spelled = new Set<string>()
    for (const command of [...found.commands, ...looseCommands(text)]) {
      const spelling = JSON.stringify(command)
      if (spelled.has(spelling)) continue
      spelled.add(spelling)
      for (const one of behind(command)) {
        seen.commands.push(one)
        if (open.length < mostScripts) for (const text of scriptsIn(one)) open.push({ text, depth: depth + 1 })
      }
    }
  }
  return seen
}

/** The command and whatever stands behind its wrappers. */
function behind(command: SeenCommand): SeenCommand[] {
  const found: SeenCommand[] = []
  const open: SeenCommand[] = [command]
  for (let next = open.pop(); next !== undefined && found.length < 100; next = open.pop()) {
    const one = next
    found.push(one)
    for (const start of [...innerStarts(one.words), ...actions(one.words)])
      open.push({ words: one.words.slice(start), input: one.input })
  }
  return found
}

/** Where find's own commands begin. */
function actions(words: readonly string[]): number[] {
  if (!/^find$|^fd(?:find)?$/.test(knownName(words[0] ?? ""))) return []
  return words.flatMap((word, at) =>
    /^(?:-exec|-execdir|-ok|-okdir|-x|-X|--exec|--exec-batch)$/.test(word) ? [at + 1] : [],
  )
}

/** Texts that the command hands to a shell. */
function scriptsIn({ words, input }: SeenCommand): string[] {
  const [program = "", ...args] = words
  const name = knownName(program)
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
