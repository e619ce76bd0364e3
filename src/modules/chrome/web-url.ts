import { refusal } from "./refusal.ts"

/** The address as it is loaded: without a scheme it means https. */
export function fullUrl(given: string): string {
  const url = given.trim()
  return /^[a-z][a-z0-9+.-]*:(?!\d)/i.test(url) ? url : `https://${url}`
}

/** Refuses everything but web pages and the empty page. The host guard has seen the address before. */
export function webUrl(given: string): string {
  const url = fullUrl(given)
  if (url === "about:blank") return url
  try {
    const { protocol, href } = new URL(url)
    if (protocol === "http:" || protocol === "https:") return href
  } catch {
    // Told below.
  }
  throw refusal("invalid_url", `${JSON.stringify(given.slice(0, 200))} is not the address of a web page. Write it in full, like https://example.com/page.`) // prettier-ignore
}

/** Returns the touches of a call on this address. Only the origin: a page's address may have secrets in it. */
export function touchesOf(url: string | undefined): { kind: "host"; what: string }[] {
  if (url === undefined || url === "" || /^(about|chrome-error|data):/i.test(url)) return []
  try {
    const { origin } = new URL(url)
    return [{ kind: "host", what: origin === "null" ? url : origin }]
  } catch {
    return [{ kind: "host", what: url }]
  }
}
