import type { Reason } from "../model/record.ts"
import type { Rule } from "../model/rule.ts"

/** What is said when a rule speaks: its own words, and where it stands. */
export function reasonOf(rule: Rule): Reason {
  const { verdict, release, shadow, source } = rule
  const told = `${opening(rule)}: ${ended(rule.because)}`
  if (shadow === true) return { voice: "rule", source, sentence: told, shadow: verdict }
  const binding = verdict === "ask" && release === undefined
  return { voice: "rule", source, sentence: told, ...(binding ? { binding } : {}) }
}

/** A text with a full stop, unless it ends like a sentence already. */
export function ended(text: string): string {
  const trimmed = text.trim()
  return /[.!?。！？]$/u.test(trimmed) ? trimmed : `${trimmed}.`
}

function opening({ verdict, release, shadow }: Rule): string {
  const result = release === undefined ? "" : release === "always" ? "the result is held" : "a failed result is held"
  if (shadow === true) {
    const would = {
      allow: "allowed it",
      ask: result === "" ? "asked a person first" : `said that ${result}`,
      deny: "denied it",
    }
    return `A rule in shadow would have ${would[verdict]}`
  }
  return {
    allow: "A rule allows it",
    ask: result === "" ? "A rule asks a person first" : `A rule says that ${result}`,
    deny: "A rule denies it",
  }[verdict]
}
