import { unquoted } from "./quotes.ts"
import type { SeenCommand } from "./seen.ts"

/**
 * Commands found by looking for the places where one may begin, without any parser: after separators, brackets and words
 * like `then`, outside of quotes. It finds some that parsers miss, and nothing depends on it alone.
 */
export function looseCommands(script: string): SeenCommand[] {
  const commands: SeenCommand[] = []
  for (const piece of pieces(script.replaceAll("\\\n", ""))) {
    const words = wordsOf(piece)
    const start = words.findIndex((word) => !leading.test(word) && !/^[A-Za-z_]\w*\+?=/.test(word))
    if (start !== -1) commands.push({ words: words.slice(start).map(unquoted) })
  }
  return commands
}

const leading = /^(?:!|if|then|elif|else|while|until|do|time|coproc|\{|\(|function|case|in|-p)$/

/** The text between separators; quotes hide them, except that double quotes hide no substitution. */
function pieces(script: string): string[] {
  const found: string[] = []
  let piece = ""
  let quote = ""
  let text = -1
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
      // What a substitution holds is a script of its own, wherever it stands.
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
    } else if (text !== -1 && character === "\n") break
    else if (character === "<" && script[at + 1] === "<" && script[at + 2] !== "<") {
      text = at
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
