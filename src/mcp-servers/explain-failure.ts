import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from "@modelcontextprotocol/client"
import { Ending, failure, ToolFailure } from "../core/ending.ts"
import { errorMessage } from "../lib/error-message.ts"
import { FailedRequest } from "./connection-errors.ts"
import type { InFlightRequest } from "./in-flight.ts"
import { streamLost } from "./http-transport.ts"
import { MessageTooLarge } from "./line-splitter.ts"

/** Errors of connecting: the request did not reach the server. */
const neverReached = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
])
const mayHaveRun = "It may have run there; check before you call it again."

/** Converts any error of a request to a `FailedRequest`. `end` says how the connection ended, if it did. */
export function toFailedRequest(
  error: unknown,
  request: {
    server: string
    inFlight: InFlightRequest
    inSession: boolean
    end: string | undefined
    signIn?: string
  },
): FailedRequest {
  const server = `The MCP server ${request.server}`
  const unavailable = (sentence: string, serverState: FailedRequest["serverState"]) =>
    new FailedRequest(new Ending("upstream_unavailable", sentence, { cause: error }), serverState)
  const { stopped, context } = request.inFlight
  if (stopped === "timeout") {
    const sentence = `${server} did not answer within ${(context.timeoutMs ?? 0) / 1000} s and was told to stop. ${mayHaveRun}`
    return new FailedRequest(new Ending("timeout", sentence, { cause: error }), "silent")
  }
  if (stopped === "aborted") {
    const sentence = `The call was cancelled, and the MCP server ${request.server} was told so. ${mayHaveRun}`
    return new FailedRequest(new Ending("aborted", sentence, { cause: error }), "alive")
  }
  if (request.signIn !== undefined) return unavailable(`${server} ${request.signIn}. Nothing was run there.`, "alive")
  if (error instanceof ToolFailure) return new FailedRequest(error, "alive")
  if (error instanceof MessageTooLarge)
    return unavailable(`${server} ${error.message}; the rest was not read. ${mayHaveRun}`, "alive")
  if (error instanceof ProtocolError) {
    if (error.code === streamLost) return unavailable(`${server} ${error.message}. ${mayHaveRun}`, "silent")
    return new FailedRequest(refusal(server, error), "alive")
  }
  if (error instanceof SdkHttpError) return failedByStatus(server, error, request.inSession, unavailable)
  if (isInvalid(error)) {
    const sentence = `${server} sent an invalid result: ${shorten(error.message)} ${mayHaveRun}`
    return new FailedRequest(new Ending("output_invalid", sentence, { cause: error }), "alive")
  }
  if (request.end !== undefined)
    return unavailable(`${server} ${request.end} while the call was there. ${mayHaveRun}`, "broken")
  const note = neverReached.has(codeOf(error)) ? "Nothing was run there; try again later." : mayHaveRun
  return unavailable(`${server} was not reached: ${failureReason(error)}. ${note}`, "broken")
}

/** Why a request failed, without a full stop. */
export function failureReason(error: unknown): string {
  if (error instanceof SdkHttpError) {
    const { status } = error.data
    if (status === 401 || status === 403)
      return `it refuses us with HTTP ${status}; check its headers in the configuration`
    return `it answers with HTTP ${status}`
  }
  const code = codeOf(error)
  if (code === "ECONNREFUSED") return "nothing listens at its address"
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") return "its host name is not known"
  if (code === "UND_ERR_CONNECT_TIMEOUT") return "its host does not answer"
  if (code === "ECONNRESET" || code === "UND_ERR_SOCKET" || code === "EPIPE") return "it closed the connection"
  return shorten(errorMessage(error)).replace(/\.$/, "")
}

function failedByStatus(
  server: string,
  error: SdkHttpError,
  inSession: boolean,
  unavailable: (sentence: string, serverState: FailedRequest["serverState"]) => FailedRequest,
): FailedRequest {
  const { status, text } = error.data
  if (status === 404 && inSession) {
    return unavailable(`${server} no longer knows our session. Nothing was run there; try again.`, "forgotten")
  }
  const rpcError = errorIn(text)
  if (rpcError !== undefined) return new FailedRequest(refusal(server, rpcError), "alive")
  const note = status >= 500 ? mayHaveRun : "Nothing was run there."
  return unavailable(`${server} was not reached: ${failureReason(error)}. ${note}`, status < 500 ? "alive" : "silent")
}

/** The JSON-RPC error in the body of a failed HTTP response. */
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
  return failure(`${server} refused the call: ${shorten(error.message)}`, {
    toolCode: "mcp_error",
    metadata: {
      rpcCode: error.code,
      rpcMessage: error.message,
      ...(error.data === undefined ? {} : { rpcData: error.data }),
    },
    cause: error,
  })
}

/** Reports whether the server's answer was not JSON, not a message, or not a valid result. */
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

function shorten(text: string): string {
  const line = text.replaceAll(/\s+/g, " ").trim()
  return line.length > 500 ? `${line.slice(0, 500)}…` : line
}
