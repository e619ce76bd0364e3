import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client"
import { Ending, failure, ToolFailure } from "../../model/ending.ts"
import { messageOf } from "../../model/message.ts"
import { FailedRequest } from "./failed.ts"
import type { Flight } from "./flights.ts"
import { streamLost } from "./http.ts"
import { TooLarge } from "./lines.ts"

/** Failures to connect, after which nothing can have happened at the server. */
const neverArrived = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
])
const mayHaveRun = "It may have run there; look before you ask for it again."

/** Tells a failed request in the words of the house. `end` is how the connection ended, where it did. */
export function failedRequest(
  error: unknown,
  about: { server: string; flight: Flight; inSession: boolean; end: string | undefined; signIn?: string | undefined },
): FailedRequest {
  const server = `The MCP server ${about.server}`
  const gone = (sentence: string, how: FailedRequest["server"]) =>
    new FailedRequest(new Ending("upstream_unavailable", sentence, { cause: error }), how)
  const { stopped, asking } = about.flight
  if (stopped === "timeout") {
    const sentence = `${server} did not answer within ${(asking.timeoutMs ?? 0) / 1000} s and was told to stop. ${mayHaveRun}`
    return new FailedRequest(new Ending("timeout", sentence, { cause: error }), "silent")
  }
  if (stopped === "aborted") {
    const sentence = `The call was cancelled, and the MCP server ${about.server} was told so. ${mayHaveRun}`
    return new FailedRequest(new Ending("aborted", sentence, { cause: error }), "alive")
  }
  if (about.signIn !== undefined) return gone(`${server} ${about.signIn}. Nothing was run there.`, "alive")
  if (error instanceof ToolFailure) return new FailedRequest(error, "alive")
  if (error instanceof TooLarge)
    return gone(`${server} ${error.message}; the rest was not read. ${mayHaveRun}`, "alive")
  if (error instanceof ProtocolError) {
    if (error.code === streamLost) return gone(`${server} ${error.message}. ${mayHaveRun}`, "silent")
    return new FailedRequest(refusal(server, error), "alive")
  }
  if (error instanceof SdkHttpError) return failedByStatus(server, error, about.inSession, gone)
  if (isInvalid(error)) {
    const sentence = `${server} answered with what is no result of the protocol: ${briefly(error.message)} ${mayHaveRun}`
    return new FailedRequest(new Ending("output_invalid", sentence, { cause: error }), "alive")
  }
  if (about.end !== undefined) return gone(`${server} ${about.end} while the call was there. ${mayHaveRun}`, "broken")
  const note = neverArrived.has(codeOf(error)) ? "Nothing was run there; try again later." : mayHaveRun
  return gone(`${server} was not reached: ${reasonOf(error)}. ${note}`, "broken")
}

/** Why something failed, without a full stop, from whatever was thrown. */
export function reasonOf(error: unknown): string {
  if (error instanceof SdkHttpError) {
    const { status } = error.data
    if (status === 401 || status === 403)
      return `it refuses us with HTTP ${status}; look at its headers in the configuration`
    return `it answers with HTTP ${status}`
  }
  const code = codeOf(error)
  if (code === "ECONNREFUSED") return "nobody listens at its address"
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its host name is not known"
  if (code === "UND_ERR_CONNECT_TIMEOUT") return "its host does not answer"
  if (code === "ECONNRESET" || code === "UND_ERR_SOCKET" || code === "EPIPE") return "it closed the connection"
  return briefly(messageOf(error)).replace(/\.$/, "")
}

function failedByStatus(
  server: string,
  error: SdkHttpError,
  inSession: boolean,
  gone: (sentence: string, how: FailedRequest["server"]) => FailedRequest,
): FailedRequest {
  const { status, text } = error.data
  if (status === 404 && inSession) {
    return gone(`${server} no longer knows us. Nothing was run there; try again.`, "forgotten")
  }
  const said = errorIn(text)
  if (said !== undefined) return new FailedRequest(refusal(server, said), "alive")
  const note = status >= 500 ? mayHaveRun : "Nothing was run there."
  return gone(`${server} was not reached: ${reasonOf(error)}. ${note}`, status < 500 ? "alive" : "silent")
}

/** The protocol's own error in an answer that HTTP calls a failure, too. */
function errorIn(text: unknown): ProtocolError | undefined {
  try {
    const { error } = JSON.parse(String(text)) as { error: { code: unknown; message: unknown; data?: unknown } }
    if (typeof error.code !== "number" || typeof error.message !== "string") return undefined
    return new ProtocolError(error.code, error.message, error.data)
  } catch {
    return undefined
  }
}

function refusal(server: string, error: ProtocolError): Error {
  return failure(`${server} refused the call: ${briefly(error.message)}`, {
    toolCode: "mcp_error",
    metadata: {
      rpcCode: error.code,
      rpcMessage: error.message,
      ...(error.data === undefined ? {} : { rpcData: error.data }),
    },
    cause: error,
  })
}

/** What came is no JSON, no message, or no result. */
function isInvalid(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  if (!(error instanceof SdkError)) return error instanceof SyntaxError || error.name.endsWith("ZodError")
  const { InvalidResult, UnsupportedResultType, ClientHttpUnexpectedContent } = SdkErrorCode
  return ([InvalidResult, UnsupportedResultType, ClientHttpUnexpectedContent] as string[]).includes(error.code)
}

/** The code may be on the error or on what caused it. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ""
  const { code } = error as NodeJS.ErrnoException
  if (!(error instanceof SdkError) && typeof code === "string") return code
  return codeOf(error.cause)
}

function briefly(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > 500 ? `${line.slice(0, 500)}…` : line
}
