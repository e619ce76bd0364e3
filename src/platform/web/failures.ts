import { failure, ToolFailure } from "../../core/ending.ts"
import type { WebAddress } from "../../guards/hosts/web-address.ts"

/** The host guard refused the request, before or while connecting. */
export function hostDenied(sentence: string): ToolFailure {
  return failure(sentence, { toolCode: "host_denied" })
}

/** Why a request failed. Names only the host, because the rest of the address may contain a key. */
export function requestFailure(error: unknown, { host, port, scheme }: WebAddress): ToolFailure {
  if (error instanceof ToolFailure) return error
  const code = codeOf(error)
  const detail = code === "" ? "" : ` (${code})`
  const failed = (toolCode: string, sentence: string, transient = false) =>
    failure(sentence, { toolCode, transient, metadata: { host }, cause: error })
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT")
    return failed("request_timeout", `${host}:${port} cannot be reached: nothing answered in time. Try later.`, true)
  if (code === "UND_ERR_HEADERS_TIMEOUT")
    return failed("request_timeout", `${host} accepted the request and sent no response. Try later, or ask for less.`)
  if (code === "UND_ERR_BODY_TIMEOUT")
    return failed("request_timeout", `${host} stopped in the middle of its response. Try later, or ask for less.`)
  if (code === "ENOTFOUND") return failed("host_not_found", `There is no host ${host}. Check the address.`)
  if (code === "EAI_AGAIN") return failed("host_not_found", `${host} cannot be looked up just now. Try later.`, true)
  if (code === "ECONNREFUSED")
    return failed("connection_refused", `Nothing answers at ${host}:${port}. Check the port, or whether it runs.`, true)
  if (isLost(code))
    return failed("connection_lost", `${host} closed the connection before its response was complete. Try again.`, true)
  if (isCertificate(code))
    return failed(
      "bad_certificate",
      `${host} has no valid certificate (${code}), so nothing was sent to it. Check the address, or ask a person.`,
    )
  if (/^(Z_|ERR__?ERROR_|ERR_BROTLI|ERR_PADDING)/.test(code))
    return failed(
      "bad_answer",
      `The response of ${host} is not compressed as it says, or is incomplete (${code}). Try again.`,
    )
  if (isGarbled(error, code))
    return failed(
      "bad_answer",
      `The response of ${host}:${port} is not ${scheme}${detail}. Check the address and its port.`,
    )
  return failed("request_failed", `The request to ${host} failed${detail}. Check the address.`)
}

function codeOf(error: unknown): string {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown }
  if (typeof code === "string") return code
  if (error instanceof AggregateError) return codeOf(error.errors[0])
  return cause === undefined ? "" : codeOf(cause)
}

function isLost(code: string): boolean {
  return ["ECONNRESET", "EPIPE", "UND_ERR_SOCKET", "UND_ERR_RES_CONTENT_LENGTH_MISMATCH", "ENETUNREACH", "EHOSTUNREACH"].includes(code) // prettier-ignore
}

function isCertificate(code: string): boolean {
  return /CERT|SELF_SIGNED|UNABLE_TO_|ALTNAME|HOSTNAME_MISMATCH/.test(code)
}

function isGarbled(error: unknown, code: string): boolean {
  return /^(HPE_|ERR_SSL|EPROTO|UND_ERR_HEADERS_OVERFLOW)/.test(code) || (error as Error)?.name === "HTTPParserError"
}
