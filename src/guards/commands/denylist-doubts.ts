import type { Finding } from "../../core/guard.ts"
import { runsCodeBecause } from "./code-runners.ts"
import { askFinding } from "./findings.ts"
import type { CommandContext } from "./command-context.ts"
import { programOf } from "./programs.ts"
import { displayWords, type ProvedSegment } from "./prove.ts"

/**
 * Why a segment asks in the mode `denylist` although no line denies it: it names a denied command, or it may run any
 * code. In that mode unlisted programs run, and an unlisted program could run a denied one that stands among its
 * arguments.
 */
export function denylistFindings(
  { words, texts = [] }: ProvedSegment,
  { allow, deny, deniedNames }: CommandContext,
): Finding[] {
  const entry = allow.findExact(words)
  const isKnown = programOf(words[0]!) !== undefined
  // Words that the matching allow line itself contains are not searched.
  const isLiteral = entry?.words.every((word, at) => word === words[at]) === true
  const searched = [...words.slice(isLiteral ? entry!.words.length : 1), ...(isKnown ? [] : texts)]
  const expanded = (word: string) => (isKnown ? [] : deniedNames.filter((name) => mayBecome(word, name)))
  const denied = deny.findAmong(searched.flatMap((word) => [...subwordsOf(word), ...expanded(word)]))
  if (denied !== undefined) {
    const sentence = `'${displayWords(words)}' names '${denied.text}', which is denied by ${denied.source}; another program could run it.`
    return [
      askFinding(denied.source, "command_names_denied", { part: displayWords(words), line: denied.text }, sentence),
    ]
  }
  const because = entry === undefined ? runsCodeBecause(words) : undefined
  return because === undefined
    ? []
    : [
        askFinding(
          "tools.shell.mode",
          "command_runs_others",
          { part: displayWords(words) },
          `${because}, in '${displayWords(words)}'.`,
        ),
      ]
}

/** The parts of a word that another program may read as separate words: shell text, lists, options with values. */
export function subwordsOf(word: string): string[] {
  const glued = /^-[A-Za-z](.+)$/s.exec(word)?.[1] ?? ""
  // Another shell removes quotes once more.
  const texts = [...new Set([word, word.replace(/["'\\]/g, "")])]
  return [word, glued, ...texts.flatMap((text) => text.split(dividers))].filter((piece) => piece !== "")
}

const dividers = /[\s=,;:!|&()<>{}[\]`'"$]+/

/** Reports whether a pattern may expand to the name. A pattern with a folder expands to files of the workspace only. */
function mayBecome(word: string, name: string): boolean {
  if (!/^[\w.+-]+[*?][\w.+*?-]*$/.test(word) || word.split("*").length > 5) return false
  const source = word.replace(/[.+]/g, "\\$&").replaceAll("*", ".*").replaceAll("?", ".")
  return new RegExp(`^${source}$`).test(name)
}
