/** Names of environment variables that usually hold a secret. Wide, because a hidden variable costs little. */
export function looksSecret(variable: string): boolean {
  return /pass|secret|token|key|credential|auth|cookie|private|dsn|jwt|connection_?string|database_?url|_(pat|pwd|pw)$/i.test(
    variable,
  )
}

const field =
  /pass(word|wd|phrase|code)|(^|[_-])(pass|pwd|auth|pat)$|secret|token|credential|authorization|cookie|private|dsn$|jwt|connection_?string|database_?url|[a-z0-9][_-]?key$/i

/** Whether what stands under that name must not be written down. */
export function namesSecret(name: string): boolean {
  return field.test(name)
}
