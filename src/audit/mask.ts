import type { Masked, Masker } from "./masker.ts"
import { isTokenCount, isSecretVariable, isSecretName } from "../lib/secret-names.ts"
import { replaceSecrets } from "../schema/secret-paths.ts"
import type { SecretPaths } from "../core/schema.ts"
import { wholeCharacters } from "../core/model-text.ts"
import { hmac, type RecordKey } from "../store/sqlite/record-key.ts"
import { hiddenText as hidden, hideSecrets, mayHoldSecret } from "../lib/secret-patterns.ts"

/** Limit of characters of one value in the audit log. */
const textLimit = 4000

/** Characters searched beyond the limit, to recognise a secret that begins before it. */
const margin = 1000

/**
 * Masks secrets by schema, by name and by pattern, then shortens. A changed value also gets a keyed digest of the original.
 * `known` are secrets that this process holds itself.
 */
export function masker(key: RecordKey, known: readonly string[] = []): Masker {
  const digest = (text: string) => hmac(key, `digest ${text}`).slice(0, 22)
  return {
    mask(value, secrets = [], also = []): Masked {
      const whole = JSON.stringify(value) ?? "null"
      const length = typeof value === "string" ? value.length : whole.length
      const harmless = secrets.length === 0 && also.length === 0 && whole.length <= textLimit
      if (harmless && !mayHoldSecret(whole) && !known.some((secret) => whole.includes(inJson(secret))))
        return { text: whole, length }
      const masking = new Masking([...known, ...also])
      const shown = shorten(JSON.stringify(masking.value(replaceSecrets(value, secrets, hidden))) ?? "null")
      if (shown === whole) return { text: whole, length }
      const found = [...masking.hidden, ...stringsAt(value, secrets)].filter((text) => text.length >= 4)
      return { text: shown, digest: digest(whole), length, hidden: found }
    },
    text: (sentence, also = []) =>
      shorten(new Masking([...known, ...also]).text(sentence.slice(0, textLimit + margin))),
  }
}

/** A text as it stands inside JSON. */
function inJson(text: string): string {
  return /["\\\p{Cc}\p{Cs}]/u.test(text) ? JSON.stringify(text).slice(1, -1) : text
}

function shorten(text: string): string {
  return text.length <= textLimit ? text : `${wholeCharacters(text, textLimit)}…`
}

/** Masks one value. What lies beyond the limit is skipped, because it is not written. */
class Masking {
  /** The secrets that were found. They are also masked where a tool repeats them. */
  readonly hidden: string[] = []
  readonly #also: readonly string[]
  #left = textLimit

  constructor(also: readonly string[]) {
    this.#also = also
  }

  value(value: unknown, name = "", isSecret = false): unknown {
    if (this.#left <= 0) return "…"
    const secret = isSecret || (name !== "" && isSecretName(name))
    if (typeof value === "string")
      return secret ? this.#hide(value) : this.#spend(this.text(value.slice(0, this.#left + margin)))
    if (typeof value === "number" && secret && !isTokenCount(name)) return hidden
    this.#left -= 4
    if (typeof value !== "object" || value === null) return value
    if (typeof (value as { toJSON?: unknown }).toJSON === "function")
      return this.value(JSON.parse(JSON.stringify(value)), name, secret)
    return Array.isArray(value)
      ? this.#list(value, name, secret)
      : this.#object(value as Record<string, unknown>, secret)
  }

  text(text: string): string {
    let masked = text
    for (const secret of this.#also) masked = masked.replaceAll(secret, hidden)
    return mayHoldSecret(masked) ? hideSecrets(masked, (secret) => this.#found(secret)) : masked
  }

  /** `["Authorization", "…"]` is a name and its value. */
  #list(items: readonly unknown[], name: string, secret: boolean): unknown[] {
    const isPair = items.length === 2 && typeof items[0] === "string" && isSecretName(items[0])
    const masked: unknown[] = []
    for (const [index, item] of items.entries()) {
      masked.push(this.value(item, name, secret || (isPair && index === 1)))
      if (this.#left <= 0) break
    }
    return masked
  }

  /** `{key: "API_TOKEN", value: "…"}` has the name of a secret in one field and the secret in the other. */
  #object(object: Record<string, unknown>, secret: boolean): Record<string, unknown> {
    const named = [object["key"], object["name"], object["header"]].find((name) => typeof name === "string") as
      | string
      | undefined
    const masked: [string, unknown][] = []
    for (const [key, item] of Object.entries(object)) {
      this.#left -= key.length
      const isNamed = key === "value" && named !== undefined && isSecretVariable(named)
      masked.push([this.text(key.slice(0, textLimit)), this.value(item, key, secret || isNamed)])
      if (this.#left <= 0) break
    }
    return Object.fromEntries(masked)
  }

  /** Remembers a secret only when it cannot be an ordinary word, which would be masked everywhere. */
  #found(secret: string): void {
    const bare = secret.replace(/^["']/, "")
    if (bare.length >= 8 && /\d/.test(bare)) this.hidden.push(bare)
  }

  #hide(secret: string): string {
    this.hidden.push(secret)
    this.#left -= hidden.length
    return hidden
  }

  #spend(text: string): string {
    this.#left -= text.length
    return text
  }
}

/** The texts at the paths that a schema marks as secret. */
function stringsAt(value: unknown, paths: SecretPaths): string[] {
  if (paths.some((path) => path.length === 0)) return textsIn(value)
  if (paths.length === 0 || typeof value !== "object" || value === null) return []
  return Object.entries(value).flatMap(([name, part]) =>
    stringsAt(
      part,
      paths.filter(([first]) => first === name || first === "*").map((path) => path.slice(1)),
    ),
  )
}

/** All texts and numbers in a value that is secret as a whole. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value]
  if (typeof value === "number") return [String(value)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}
