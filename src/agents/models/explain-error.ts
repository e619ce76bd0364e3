import { errorMessage } from "../../lib/error-message.ts"
import { maskSecrets, publicAddress } from "./mask-secrets.ts"
import { ModelError } from "./model-error.ts"
import { retryAfter } from "./retry.ts"

/** The server of a model, as messages name it. */
export interface Server {
  /** The model's name in the configuration. */
  name: string
  modelId: string
  address: string
  /** The value is empty if the variable is not set and need not be. */
  key: { variable: string; value: string } | undefined
  /** The tools of the request. */
  tools?: readonly string[]
}

/** The fields of the AI SDK's errors that are used here. */
interface ProviderError {
  name?: string
  message?: string
  statusCode?: number
  responseHeaders?: Record<string, string>
  responseBody?: string
  isRetryable?: boolean
  cause?: unknown
  /** Of errors inside a stream. */
  type?: string
  /** The unreadable answer, as a text or as a value. */
  text?: string
  value?: unknown
}

/** Turns what a provider's library throws or streams into a sentence without the key. */
export function explainError(thrown: unknown, server: Server): ModelError {
  const own = ownError(thrown)
  if (own !== undefined) return own
  const error = (typeof thrown === "object" && thrown !== null ? thrown : {}) as ProviderError
  const said = saidBy(error, thrown, server)
  const { statusCode } = error
  if (statusCode !== undefined && statusCode >= 400) return ofStatus(statusCode, error, said, server)
  if (error.name === "AI_APICallError" && error.isRetryable === true) {
    const isBegun = statusCode !== undefined
    return isBegun
      ? new ModelError(
          "cut_stream",
          `The connection of the model '${server.name}' broke in the middle of an answer. Try again.`,
        )
      : unreachable(server, error)
  }
  if (error.name === "AI_InvalidResponseDataError" && /without a finish reason/.test(said))
    return new ModelError(
      "cut_stream",
      `The answer of the model '${server.name}' ended before it was complete. Try again.`,
    )
  if ((error.name ?? "").startsWith("AI_")) return badAnswer(server, error, said)
  if (/invalid|auth|permission|not_found/.test(error.type ?? ""))
    return new ModelError("refused_request", `The server of the model '${server.name}' refused the request: ${said}`)
  if (thrown instanceof Error) return new ModelError("failed", `The model '${server.name}' failed: ${said}`)
  return new ModelError("server_error", `The server of the model '${server.name}' reported an error: ${said}`)
}

/** Google ends an answer so when the model wrote a call that is no call. */
export function malformedCall({ name }: Server): ModelError {
  return new ModelError(
    "malformed_call",
    `The model '${name}' wrote a tool call that its provider could not read. Try again. If it happens often, give the agent fewer or simpler tools, or use another model.`,
  )
}

/** A ModelError of ours that a library wrapped. */
function ownError(thrown: unknown): ModelError | undefined {
  for (let error = thrown, depth = 0; error instanceof Error && depth < 5; error = error.cause, depth++) {
    if (error instanceof ModelError) return error
  }
  return undefined
}

const isAboutKey = /api[ _-]?key (is )?(not valid|invalid|expired)|(invalid|incorrect) api[ _-]?key/i

/** Sentences of providers for a request with too many tokens; `explain-error.test.ts` has a sentence of each. */
const isTooLong =
  /context.{0,20}(length|window|limit|size)|maximum (context|model length)|prompt is too long|too many (input )?tokens|input is too long|token count.{0,30}exceeds|range of input length/i

const hasNoTools = /(not|n't) support (tool|function)|tool choice requires/i

/** A schema, or a place in the tools of the request. */
const isAboutSchema = /schema|tools?[.[]\d|function_?declarations?[.[]/i

function ofStatus(status: number, error: ProviderError, said: string, server: Server): ModelError {
  const { name, modelId, key } = server
  const why = `(HTTP ${status}): ${said}`
  // Google refuses a wrong key with status 400.
  if (status === 401 || status === 403 || (status === 400 && isAboutKey.test(said))) {
    const what = key === undefined || key.value === "" ? "a request without a key" : "the key"
    const help =
      key === undefined ? `Add 'models.${name}.apiKey'.` : `Set ${key.variable} to a key that is valid there.`
    return new ModelError("wrong_key", `The server of the model '${name}' refused ${what} ${why} ${help}`)
  }
  if (status === 404) {
    return new ModelError(
      "model_not_found",
      `The server at ${publicAddress(server.address)} does not have '${modelId}' ${why} Correct 'models.${name}.model' or 'models.${name}.baseUrl'.`,
    )
  }
  if (status === 429) {
    const help = "Wait, or ask the provider for a higher limit."
    return new ModelError(
      "rate_limited",
      `The server of the model '${name}' has had too many requests ${why} ${help}`,
      retryAfter(error.responseHeaders),
    )
  }
  if (status >= 500 || status === 408)
    return new ModelError(
      "server_error",
      `The server of the model '${name}' failed ${why} Try again later.`,
      retryAfter(error.responseHeaders),
    )
  if (isTooLong.test(said))
    return new ModelError(
      "context_exceeded",
      `The conversation is too long for the model '${name}' ${why} Compress it, or use a model with more context.`,
    )
  if (hasNoTools.test(said))
    return new ModelError(
      "refused_schema",
      `The server of the model '${name}' does not take tools ${why} Use a model and server that can call tools.`,
    )
  const tool = server.tools?.find((one) => ["'", '"', "`"].some((mark) => said.includes(`${mark}${one}${mark}`)))
  if (tool !== undefined || isAboutSchema.test(said)) {
    const which = tool === undefined ? "a tool" : `the tool '${tool}'`
    return new ModelError(
      "refused_schema",
      `The server of the model '${name}' refused ${which} ${why} Correct its schema, or take the tool away from the agent's role.`,
    )
  }
  return new ModelError("refused_request", `The server of the model '${name}' refused the request ${why}`)
}

function unreachable({ name, address }: Server, error: ProviderError): ModelError {
  const code = codeOf(error)
  return new ModelError(
    "unreachable",
    `The server of the model '${name}' cannot be reached at ${publicAddress(address)}${code === undefined ? "" : ` (${code})`}. Start it, check the network, or correct 'models.${name}.baseUrl'.`,
  )
}

function badAnswer(server: Server, error: ProviderError, said: string): ModelError {
  const { name, address } = server
  const sent = error.text || error.responseBody || (error.value === undefined ? undefined : JSON.stringify(error.value))
  const details = sent === undefined ? said : `It sent: ${asLine(sent, server, 100)}`
  return new ModelError(
    "bad_answer",
    `The server of the model '${name}' at ${publicAddress(address)} did not answer in the format of its provider. ${details} Check 'models.${name}.provider' and 'models.${name}.baseUrl'; for many servers it ends with /v1.`,
  )
}

function codeOf(error: unknown): string | undefined {
  for (let here = error, depth = 0; typeof here === "object" && here !== null && depth < 5; depth++) {
    const { code, cause } = here as { code?: unknown; cause?: unknown }
    if (typeof code === "string") return code
    here = cause
  }
  return undefined
}

/** Returns the server's message, as a line of at most 300 characters. */
function saidBy(error: ProviderError, thrown: unknown, server: Server): string {
  const message = error.message ?? (typeof thrown === "object" ? JSON.stringify(thrown) : errorMessage(thrown))
  return asLine(message === "" ? (error.responseBody ?? "") : message, server, 300)
}

/** A text on one line and not too long, without secrets. Ends with a full stop. */
function asLine(text: string, server: Server, most: number): string {
  const line = maskSecrets(text, server).replace(/\s+/g, " ").trim() || "it gave no reason"
  const short = line.length > most ? `${line.slice(0, most)}…` : line
  return /[.!?\u2026]$/.test(short) ? short : `${short}.`
}
