import { failure } from "../../core/ending.ts"
import { isSecretName } from "../../lib/secret-names.ts"

type Headers = Readonly<Record<string, string>>

/** A tool's headers and our defaults. Refuses headers that follow from the address or the connection. */
export function requestHeaders(ofTool: Headers): Record<string, string> {
  const headers: Record<string, string> = {
    accept: "*/*",
    "accept-encoding": "gzip, deflate, br",
    "user-agent": "Quartermaster",
  }
  for (const [name, value] of Object.entries(ofTool)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw badHeader(`${JSON.stringify(name)} is not a valid header name. Use letters, digits and dashes.`)
    // oxlint-disable-next-line no-control-regex
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
      throw badHeader(`The header ${name} contains characters that headers cannot have. Leave them out.`)
    if (reserved.has(name.toLowerCase()) || /^proxy-/i.test(name))
      throw badHeader(`The header ${name} is set from the address and the body. Leave it out.`)
    headers[name.toLowerCase()] = value
  }
  return headers
}

const reserved = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "expect", "te", "trailer"]) // prettier-ignore

/** The headers that may be sent to another origin. */
export function withoutSecretHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !isSecretName(name)))
}

/** The headers for a request that does not repeat the body. */
export function withoutBodyHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-")))
}

/** Response headers as text; several of one name are joined. */
export function responseHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
  return Object.fromEntries(texts.filter(([, value]) => value !== undefined)) as Record<string, string>
}

function badHeader(sentence: string): Error {
  return failure(sentence, { toolCode: "bad_header" })
}
