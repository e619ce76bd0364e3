import type { Finding } from "../../model/guard.ts"
import { runsBecause } from "./code-runners.ts"
import { asks } from "./findings.ts"
import type { House } from "./house.ts"
import { programOf } from "./programs.ts"
import { shown, type ProvedSegment } from "./prove.ts"

/**
 * Why a part that nothing denies still asks in the mode denylist, where any program runs that nobody named: another could
 * run what is denied. Its name anywhere among the words is enough, also where they are only text.
 */
export function doubtsAbout({ words, texts = [] }: ProvedSegment, { allow, deny, deniedNames }: House): Finding[] {
  const entry = allow.naming(words)
  const isKnown = programOf(words[0]!) !== undefined
  // The words that a line of the allow list says itself are meant as they stand.
  const isSaid = entry?.words.every((word, at) => word === words[at]) === true
  const rest = [...words.slice(isSaid ? entry!.words.length : 1), ...(isKnown ? [] : texts)]
  const expanded = (word: string) => (isKnown ? [] : deniedNames.filter((name) => mayBecome(word, name)))
  const denied = deny.among(rest.flatMap((word) => [...piecesOf(word), ...expanded(word)]))
  if (denied !== undefined) {
    const sentence = `'${shown(words)}' names '${denied.text}', which is denied by ${denied.source}; another program could run it.`
    return [asks(denied.source, sentence)]
  }
  const because = entry === undefined ? runsBecause(words) : undefined
  return because === undefined ? [] : [asks("tools.shell.mode", `${because}, in '${shown(words)}'.`)]
}

/** What of a word may be a word of its own for whoever is given it: shells, lists, options with their values. */
export function piecesOf(word: string): string[] {
  const glued = /^-[A-Za-z](.+)$/s.exec(word)?.[1] ?? ""
  // Another shell takes quotes away once more.
  const texts = [...new Set([word, word.replace(/["'\\]/g, "")])]
  return [word, glued, ...texts.flatMap((text) => text.split(dividers))].filter((piece) => piece !== "")
}

const dividers = /[\s=,;:!|&()<>{}[\]`'"$]+/

/** A pattern without a folder may come to the name of a program; in a folder it leads to files of the workspace. */
function mayBecome(word: string, name: string): boolean {
  if (!/^[\w.+-]+[*?][\w.+*?-]*$/.test(word) || word.split("*").length > 5) return false
  const source = word.replace(/[.+]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".")
  return new RegExp(`^${source}$`).test(name)
}
