/** Names of variables that usually hold a secret. */
export function looksSecret(key: string): boolean {
  return /pass|secret|token|key|credential|auth|cookie|private|dsn|jwt|connection_string|database_url|_(pat|pwd|pw)$/i.test(
    key,
  )
}
