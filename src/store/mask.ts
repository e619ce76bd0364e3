import type { Masked, Masker } from "../model/ports.ts"
import { hidesValue, looksSecret } from "../model/secret-names.ts"
import { withoutSecrets } from "../model/secrets.ts"
import { wholeCharacters } from "../model/text.ts"
import { hmac, type RecordKey } from "./key.ts"

const hidden = "***"

/** How much of one value the record keeps. */
const textLimit = 4000

/** How far behind the limit a secret is still recognised that begins before it. */
const margin = 1000

const secretText: readonly RegExp[] = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{0,8000}?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  /\b(?:sk|pk|rk)[-_](?:[a-z]{1,20}[-_]){0,3}[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_\w{20,}/g,
  /\bxox[abprs]-[\w-]{10,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[\w-]{30,}/g,
  /\b[Bb]earer\s+[\w.~+/-]{12,}=*/g,
  /\b([a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/g,
]

/** One look at the JSON text tells whether there could be anything to mask; most values have nothing. */
const suspicious =
  /pass|pwd|secret|token|key|credential|auth|cookie|private|dsn|jwt|_pat|_pw|connection|database|eyJ|sk[-_]|pk[-_]|rk[-_]|gh[pousr]_|xox|AKIA|ASIA|AIza|earer|:\/\//i

/** Masks by key name and by what the text looks like, then cuts. The whole is remembered by a keyed digest only. */
export function masker(key: RecordKey): Masker {
  const digest = (text: string) => hmac(key, `digest ${text}`).slice(0, 22)
  return {
    mask(value, secrets = []): Masked {
      const whole = JSON.stringify(value) ?? "null"
      const length = typeof value === "string" ? value.length : whole.length
      if (secrets.length === 0 && whole.length <= textLimit && !suspicious.test(whole)) return { text: whole, length }
      const shown = shorten(
        JSON.stringify(maskValue(withoutSecrets(value, secrets, hidden), "", { left: textLimit })) ?? "null",
      )
      return shown === whole ? { text: whole, length } : { text: shown, digest: digest(whole), length }
    },
    text: (sentence) => shorten(maskText(sentence.slice(0, textLimit + margin))),
  }
}

function shorten(text: string): string {
  return text.length <= textLimit ? text : `${wholeCharacters(text, textLimit)}…`
}

/** What is left to show once the limit is reached is not looked at: it does not reach the record. */
function maskValue(value: unknown, name: string, budget: { left: number }): unknown {
  if (budget.left <= 0) return "…"
  if (name !== "" && hidesValue(name, value)) return hidden
  if (typeof value === "string") {
    const text = maskText(value.slice(0, budget.left + margin))
    budget.left -= text.length
    return text
  }
  budget.left -= 4
  if (typeof value !== "object" || value === null) return value
  if (typeof (value as { toJSON?: unknown }).toJSON === "function")
    return maskValue(JSON.parse(JSON.stringify(value)), name, budget)
  if (Array.isArray(value)) {
    const items: unknown[] = []
    for (const item of value) {
      items.push(maskValue(item, name, budget))
      if (budget.left <= 0) break
    }
    return items
  }
  return maskObject(value as Record<string, unknown>, budget)
}

/** `{key: "API_TOKEN", value: "…"}` names its secret in one field and has it in the other. */
function maskObject(value: Record<string, unknown>, budget: { left: number }): Record<string, unknown> {
  const named = typeof value["key"] === "string" ? value["key"] : ""
  const masked: [string, unknown][] = []
  for (const [key, item] of Object.entries(value)) {
    budget.left -= key.length
    const isNamed = key === "value" && typeof item === "string" && looksSecret(named)
    masked.push([key, isNamed ? hidden : maskValue(item, key, budget)])
    if (budget.left <= 0) break
  }
  return Object.fromEntries(masked)
}

function maskText(text: string): string {
  let masked = text
  for (const pattern of secretText) {
    masked = masked.replace(pattern, (_match, kept?: unknown) => (typeof kept === "string" ? kept : "") + hidden)
  }
  return masked
}
