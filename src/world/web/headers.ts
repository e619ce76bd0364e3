import { failure } from "../../model/ending.ts"
import { namesSecret } from "../../model/secret-names.ts"

type Headers = Readonly<Record<string, string>>

/** What a tool wants to send, with what every request has. Headers that say where or how it is sent are refused. */
export function requestHeaders(given: Headers): Record<string, string> {
  const headers: Record<string, string> = {
    accept: "*/*",
    "accept-encoding": "gzip, deflate, br",
    "user-agent": "Quartermaster",
  }
  for (const [name, value] of Object.entries(given)) {
    if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name))
      throw badHeader(`${JSON.stringify(name)} is no name of a header. Use letters, digits and dashes.`)
    // oxlint-disable-next-line no-control-regex
    if (/[^\t\u0020-\u007e\u0080-\u00ff]/.test(value))
      throw badHeader(`The header ${name} has characters in it that no header can have. Leave them out.`)
    if (reserved.has(name.toLowerCase()) || /^proxy-/i.test(name))
      throw badHeader(`The header ${name} follows from the address and the body. Leave it out.`)
    headers[name.toLowerCase()] = value
  }
  return headers
}

const reserved = new Set(["host", "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade", "expect", "te", "trailer"]) // prettier-ignore

/** What may be told to another origin than the one it was meant for. */
export function withoutSecretHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !namesSecret(name)))
}

/** What may be told when the body is not sent again. */
export function withoutBodyHeaders(headers: Headers): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("content-")))
}

/** Headers of an answer as text, several of one name put together. */
export function answerHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const texts = Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(", ") : value])
  return Object.fromEntries(texts.filter(([, value]) => value !== undefined)) as Record<string, string>
}

function badHeader(sentence: string): Error {
  return failure(sentence, { toolCode: "bad_header" })
}
