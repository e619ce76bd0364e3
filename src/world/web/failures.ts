import { failure, ToolFailure } from "../../model/ending.ts"
import type { WebAddress } from "../../policy/hosts-reading.ts"

/** Refused by the guard, before or while connecting. */
export function hostDenied(sentence: string): ToolFailure {
  return failure(sentence, { toolCode: "host_denied" })
}

/** Why a request failed. It names the host and never the rest of the address, which may hold a key. */
export function requestFailure(error: unknown, { host, port, scheme }: WebAddress): ToolFailure {
  if (error instanceof ToolFailure) return error
  const code = codeOf(error)
  const detail = code === "" ? "" : ` (${code})`
  const say = (toolCode: string, sentence: string, transient = false) =>
    failure(sentence, { toolCode, transient, metadata: { host }, cause: error })
  if (code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT")
    return say("request_timeout", `${host}:${port} cannot be reached: nothing answered in time. Try later.`, true)
  if (code === "UND_ERR_HEADERS_TIMEOUT")
    return say("request_timeout", `${host} took the request and did not begin to answer. Try later, or ask for less.`)
  if (code === "UND_ERR_BODY_TIMEOUT")
    return say("request_timeout", `${host} stopped in the middle of its answer. Try later, or ask for less.`)
  if (code === "ENOTFOUND") return say("host_not_found", `There is no host ${host}. Check the address.`)
  if (code === "EAI_AGAIN") return say("host_not_found", `${host} cannot be looked up just now. Try later.`, true)
  if (code === "ECONNREFUSED")
    return say("connection_refused", `Nothing answers at ${host}:${port}. Check the port, or whether it runs.`, true)
  if (isLost(code))
    return say("connection_lost", `${host} ended the connection before its answer was whole. Try again.`, true)
  if (isCertificate(code))
    return say("bad_certificate", `${host} cannot prove who it is (${code}), so nothing was sent to it.`)
  if (/^(Z_|ERR__?ERROR_|ERR_BROTLI|ERR_PADDING)/.test(code))
    return say("bad_answer", `What ${host} sent is not packed as it says, or breaks off (${code}). Try again.`)
  if (isGarbled(error, code))
    return say("bad_answer", `What ${host}:${port} answers is not ${scheme}${detail}. Check the address and its port.`)
  return say("request_failed", `The request to ${host} failed${detail}. Check the address.`)
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
