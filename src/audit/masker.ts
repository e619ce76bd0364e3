import type { SecretPaths } from "../core/schema.ts"

/** Removes secrets from text for the audit log and cuts it to length. */
export interface Masker {
  /** `secrets` are paths that a schema marks, `also` texts that were secret elsewhere in the call. */
  mask(value: unknown, secrets?: SecretPaths, also?: readonly string[]): Masked
  text(sentence: string, also?: readonly string[]): string
}

export interface Masked {
  text: string
  /** Keyed digest of the whole value, when something was masked or cut. */
  digest?: string
  /** Characters of the whole JSON text. */
  length: number
  /** The secrets that were masked. Kept in memory only, to mask them in the tool's output too. */
  hidden?: readonly string[]
}
