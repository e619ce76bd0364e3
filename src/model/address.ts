/**
 * The address that is meant, or undefined. Not `URL.canParse`: in Node 20 it takes letters such as ü for no address once
 * it has been called often enough to be compiled.
 */
export function readUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base)
  } catch {
    return undefined
  }
}

/** Where a server of this machine is reached by HTTP. */
export function httpAddress(host: string, port: number): string {
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`
}

/**
 * An address as whoever parses it reads it: without space around, its scheme in small letters, dots folded, and what
 * need not be escaped unescaped. Undefined for what has space or control characters within, or is no absolute address.
 */
export function normalAddress(address: string): string | undefined {
  // oxlint-disable-next-line no-control-regex
  const href = /[\u0000-\u0020\u007f-\u009f]/.test(address.trim()) ? undefined : readUrl(address)?.href
  if (href === undefined) return undefined
  const plain = href.replace(/%([0-9a-f]{2})/gi, (escape, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16))
    return /[A-Za-z0-9._~-]/.test(character) ? character : escape.toUpperCase()
  })
  // What was unescaped may be dots that fold.
  return plain === href ? plain : normalAddress(plain)
}
