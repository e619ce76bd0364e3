import { ModelError } from "./model-error.ts"

/** Limit of bytes of a server for one answer, with all that its format adds around the text. */
const largestResponse = 64 * 1024 * 1024

/**
 * `fetch` for one model. It follows no redirects, so that a key goes only to the configured server; it stops endless
 * responses; and it has no time limits of its own, because `runTurn` has.
 */
export function limitedFetch(name: string): typeof fetch {
  return async (input, init) => {
    const { fetch: send, Agent } = await import("undici")
    agent ??= new Agent({ headersTimeout: 0, bodyTimeout: 0 })
    const request = { ...init, redirect: "error", dispatcher: agent } as Parameters<typeof send>[1]
    const response = (await send(input as string, request)) as unknown as Response
    const type = response.headers.get("content-type") ?? ""
    if (response.ok && type.startsWith("text/html")) {
      await response.body?.cancel()
      throw new ModelError(
        "bad_answer",
        `The server of the model '${name}' answered with a web page. Correct 'models.${name}.baseUrl'; for many servers it ends with /v1.`,
      )
    }
    if (response.body === null) return response
    const { status, statusText, headers } = response
    return new Response(response.body.pipeThrough(sizeLimit(name)), { status, statusText, headers })
  }
}

let agent: InstanceType<(typeof import("undici"))["Agent"]> | undefined

function sizeLimit(name: string): TransformStream<Uint8Array, Uint8Array> {
  let size = 0
  return new TransformStream({
    transform(chunk, controller) {
      size += chunk.byteLength
      if (size <= largestResponse) return controller.enqueue(chunk)
      const limit = largestResponse / 1024 / 1024
      throw new ModelError(
        "too_large",
        `The server of the model '${name}' sent more than ${limit} MB for one answer, and was stopped. Use another model or server.`,
      )
    },
  })
}
