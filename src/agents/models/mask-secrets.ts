import { parseUrl } from "../../lib/url.ts"

/** Facts about a server that its messages must not show. */
export interface ServerSecrets {
  address: string
  key: { value: string } | undefined
  modelId: string
}

/** Parts of a path that are no tokens. */
const isPlain =
  /^(?:|v\d+\w{0,5}|api|openai|anthropic|google|gemini|compatible-mode|inference|models|deployments|proxy)$/

/** An address for messages: without a user, password and query, and with `***` for what may be a token in its path. */
export function publicAddress(address: string): string {
  const url = parseUrl(address)
  if (url === undefined) return "an address that is no URL"
  const path = url.pathname.split("/").map((part) => (isPlain.test(part) ? part : "***"))
  return `${url.origin}${path.join("/")}`.replace(/\/$/, "")
}

/** The text with `***` for the key, as it is or escaped, and for what may be a token in the address. */
export function maskSecrets(text: string, { address, key, modelId }: ServerSecrets): string {
  const value = key?.value ?? ""
  const escaped = [value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)]
  const secrets = [
    ...escaped.filter(({ length }) => length >= 4),
    ...tokensOf(address).filter((token) => token.length >= 8 && token !== modelId),
  ]
  return secrets
    .toSorted((one, other) => other.length - one.length)
    .reduce((masked, secret) => masked.replaceAll(secret, "***"), text)
}

function tokensOf(address: string): string[] {
  const url = parseUrl(address)
  if (url === undefined) return []
  return [...url.pathname.split("/").filter((part) => !isPlain.test(part)), ...url.searchParams.values(), url.password]
}
