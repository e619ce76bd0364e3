import type { Masked, Masker } from "../model/ports.ts"
import { countsTokens, looksSecret, namesSecret } from "../model/secret-names.ts"
import { withoutSecrets, type SecretPaths } from "../model/secrets.ts"
import { wholeCharacters } from "../model/text.ts"
import { hmac, type RecordKey } from "./key.ts"
import { hiddenText as hidden, hideSecrets, mayHoldSecret } from "./secret-patterns.ts"

/** How much of one value the record keeps. */
const textLimit = 4000

/** How far behind the limit a secret is still recognised that begins before it. */
const margin = 1000

/** Masks by schema mark, by name and by what the text looks like, then cuts. The whole is known by a keyed digest only. */
export function masker(key: RecordKey): Masker {
  const digest = (text: string) => hmac(key, `digest ${text}`).slice(0, 22)
  return {
    mask(value, secrets = [], also = []): Masked {
      const whole = JSON.stringify(value) ?? "null"
      const length = typeof value === "string" ? value.length : whole.length
      const harmless = secrets.length === 0 && also.length === 0 && whole.length <= textLimit
      if (harmless && !mayHoldSecret(whole)) return { text: whole, length }
      const masking = new Masking(also)
      const shown = shorten(JSON.stringify(masking.value(withoutSecrets(value, secrets, hidden))) ?? "null")
      if (shown === whole) return { text: whole, length }
      const found = [...masking.hidden, ...stringsAt(value, secrets)].filter((text) => text.length >= 4)
      return { text: shown, digest: digest(whole), length, hidden: found }
    },
    text: (sentence, also = []) => shorten(new Masking(also).text(sentence.slice(0, textLimit + margin))),
  }
}

function shorten(text: string): string {
  return text.length <= textLimit ? text : `${wholeCharacters(text, textLimit)}…`
}

/** One value on its way into the record. What is behind the limit is not looked at: it does not reach the record. */
class Masking {
  /** The secrets that were found, to be masked where a tool repeats them. */
  readonly hidden: string[] = []
  readonly #also: readonly string[]
  #left = textLimit

  constructor(also: readonly string[]) {
    this.#also = also
  }

  value(value: unknown, name = "", isSecret = false): unknown {
    if (this.#left <= 0) return "…"
    const secret = isSecret || (name !== "" && namesSecret(name))
    if (typeof value === "string")
      return secret ? this.#hide(value) : this.#spend(this.text(value.slice(0, this.#left + margin)))
    if (typeof value === "number" && secret && !countsTokens(name)) return hidden
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
    const isPair = items.length === 2 && typeof items[0] === "string" && namesSecret(items[0])
    const masked: unknown[] = []
    for (const [index, item] of items.entries()) {
      masked.push(this.value(item, name, secret || (isPair && index === 1)))
      if (this.#left <= 0) break
    }
    return masked
  }

  /** `{key: "API_TOKEN", value: "…"}` names its secret in one field and has it in the other. */
  #object(object: Record<string, unknown>, secret: boolean): Record<string, unknown> {
    const named = [object["key"], object["name"], object["header"]].find((name) => typeof name === "string") as
      | string
      | undefined
    const masked: [string, unknown][] = []
    for (const [key, item] of Object.entries(object)) {
      this.#left -= key.length
      const isNamed = key === "value" && named !== undefined && looksSecret(named)
      masked.push([this.text(key.slice(0, textLimit)), this.value(item, key, secret || isNamed)])
      if (this.#left <= 0) break
    }
    return Object.fromEntries(masked)
  }

  /** Words stay words: what could be one is not looked for elsewhere. */
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

/** The texts in the places a schema marks. */
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

/** Every text and number in a value that is secret as a whole. */
function textsIn(value: unknown): string[] {
  if (typeof value === "string") return [value]
  if (typeof value === "number") return [String(value)]
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : []
}
