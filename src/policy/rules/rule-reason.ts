import { canonicalJson, sha256 } from "../../lib/canonical-json.ts"
import type { Reason } from "../../core/reason.ts"
import type { Rule } from "../../core/rule.ts"

/** The reason that a rule gives when it matches: its own words and where it is written. */
export function reasonOf(rule: Rule): Reason {
  const { verdict, release, shadow, source } = rule
  const sentence = `${opening(rule)}: ${asSentence(rule.because)}`
  const reason = { check: "rule", source, code: codeOf(rule), params: { rule: ruleHash(rule) }, sentence }
  if (shadow === true) return { ...reason, shadow: verdict }
  const binding = verdict === "ask" && release === undefined
  return { ...reason, ...(binding ? { binding } : {}) }
}

function codeOf({ verdict, release }: Rule): string {
  if (verdict === "ask") return release === undefined ? "rule_asks" : "rule_holds_result"
  return verdict === "allow" ? "rule_allows" : "rule_denies"
}

/** A hash of what the rule says, not of where it is written: who approved under one rule did not approve under another. */
export function ruleHash({ source: _source, ...content }: Rule): string {
  return sha256(canonicalJson(content)).slice(0, 16)
}

/** A text with a full stop, unless it ends like a sentence already. */
export function asSentence(text: string): string {
  const trimmed = text.trim()
  return /[.!?\u3002\uff01\uff1f]$/u.test(trimmed) ? trimmed : `${trimmed}.`
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
