/**
 * Parses a URL. Undefined when it is not one. Does not use `URL.canParse`, which in Node 20 wrongly rejects letters
 * such as ü once it is optimised.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

/** Reports whether only this machine can reach the host: a name or address of loopback, with or without brackets. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || /^(::1|\[::1\]|127\.\d+\.\d+\.\d+)$/.test(host)
}

/** The HTTP origin of a server on this machine. */
export function httpOrigin(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`
}

/**
 * The normal form of a URL: trimmed, scheme in lower case, dot segments resolved, unnecessary escapes removed.
 * Undefined when it contains spaces or control characters or is not absolute.
 */
export function normalizeUrl(address: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  const href = /[\u0000-\u0020\u007f-\u009f]/.test(address.trim()) ? undefined : parseUrl(address)?.href
  if (href === undefined) return undefined
  const plain = href.replace(/%([0-9a-f]{2})/gi, (escape, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase()
  })
  // Unescaping may have produced new dot segments.
  return plain === href ? plain : normalizeUrl(plain)
}
