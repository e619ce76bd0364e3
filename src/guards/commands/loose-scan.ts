import { unquoted } from "./quotes.ts"
import type { ScannedCommand } from "./scan-result.ts"

/**
 * Finds commands without a parser, wherever one may begin: after separators, brackets and words like `then`, outside
 * quotes. It finds some that the parsers miss.
 */
export function looseCommands(script: string): ScannedCommand[] {
  const commands: ScannedCommand[] = []
  for (const piece of pieces(script.replaceAll("\\\n", ""))) {
    const words = wordsOf(piece)
    const start = words.findIndex((word) => !leading.test(word) && !/^[A-Za-z_]\w*\+?=/.test(word))
    if (start !== -1) commands.push({ words: words.slice(start).map(unquoted) })
  }
  return commands
}

const leading = /^(?:!|if|then|elif|else|while|until|do|time|coproc|\{|\(|function|case|in|-p)$/

/** Splits at separators outside quotes. A substitution inside double quotes is split off too. */
function pieces(script: string): string[] {
  const found: string[] = []
  let piece = ""
  let quote = ""
  let heredocStart = -1
  const end = () => {
    if (piece.trim() !== "") found.push(piece)
    piece = ""
  }
  for (let at = 0; at < script.length; at++) {
    const character = script[at]!
    if (quote === "'") {
      piece += character
      if (character === "'") quote = ""
    } else if (character === "\\") piece += character + (script[++at] ?? "")
    else if (character === "`" || (character === "$" && script[at + 1] === "(")) {
      // The content of a substitution is a script of its own.
      if (character === "$") at++
      if (quote === '"') piece += '"'
      quote = ""
      end()
    } else if (quote === '"') {
      piece += character
      if (character === '"') quote = ""
    } else if (character === "'" || character === '"') {
      quote = character
      piece += character
    } else if (heredocStart !== -1 && character === "\n") break
    else if (character === "<" && script[at + 1] === "<" && script[at + 2] !== "<") {
      heredocStart = at
      piece += character + script[++at]
    } else if (";&|\n(){}".includes(character)) end()
    else if (character === "#" && (at === 0 || /[\s;&|()]/.test(script[at - 1]!))) {
      const newline = script.indexOf("\n", at)
      at = newline === -1 ? script.length : newline - 1
    } else piece += character
  }
  end()
  return found
}

function wordsOf(piece: string): string[] {
  const words = piece.match(/(?:'[^']*'|"(?:\\.|[^"\\])*"|\\.|[^\s'"\\])+/gs) ?? []
  return words.filter((word, at) => !isRedirect(word) && !(at > 0 && /^\d*[<>]+[|&]?$/.test(words[at - 1]!)))
}

function isRedirect(word: string): boolean {
  return /^\d*[<>]/.test(word)
}
