import type { IncomingMessage, ServerResponse } from "node:http"
import { abortOnDisconnect, sendReply } from "../../../lib/http-reply.ts"
import { answer, problemReply, type Incoming } from "../routes/answer.ts"
import type { Api, Endpoint } from "../routes/endpoint.ts"
import { endpoints } from "../routes/endpoints.ts"
import { eventEndpoint } from "../routes/events.ts"
import { openApiEndpoint } from "../routes/openapi.ts"
import { HttpProblem } from "../routes/problem.ts"
import { sessionEndpoints } from "../routes/session.ts"
import { stateEndpoints } from "../routes/state.ts"
import { readBody } from "./read-body.ts"
import { router } from "./router.ts"

/** Answers requests with the endpoints. Returns false for a path that none of them has. */
export function createApi(api: Api, maxBodyBytes: number) {
  const described: readonly Endpoint[] = [...endpoints, eventEndpoint, ...sessionEndpoints(), ...stateEndpoints]
  const find = router([...described, openApiEndpoint(described, api.version)])
  return (path: string, request: IncomingMessage, response: ServerResponse): boolean => {
    const found = find(request.method ?? "GET", path)
    if (found === undefined) return false
    if (found.route === undefined) {
      void sendReply(response, problemReply(wrongMethod(found.allow)))
      return true
    }
    answer(found.route, api, new NodeRequest(request, response, found.params, maxBodyBytes)).then(
      (reply) => sendReply(response, reply),
      (error: unknown) => sendReply(response, problemReply(error)),
    )
    return true
  }
}

class NodeRequest implements Incoming {
  readonly params: Readonly<Record<string, string>>
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #maxBodyBytes: number

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    params: Readonly<Record<string, string>>,
    maxBodyBytes: number,
  ) {
    this.#request = request
    this.#response = response
    this.params = params
    this.#maxBodyBytes = maxBodyBytes
  }

  header(name: string): string | undefined {
    return this.#request.headers[name] as string | undefined
  }

  get query(): Record<string, string> {
    return queryOf(this.#request.url ?? "")
  }

  bytes(): Promise<Buffer> {
    return readBody(this.#request, this.#maxBodyBytes)
  }

  get signal(): AbortSignal {
    return abortOnDisconnect(this.#response)
  }
}

function wrongMethod(allow: string): HttpProblem {
  return new HttpProblem(405, `Only ${allow} is answered here.`, { code: "wrong_method" }, { allow })
}

/** The first value of each name. */
function queryOf(url: string): Record<string, string> {
  const start = url.indexOf("?")
  return start === -1 ? {} : Object.fromEntries([...new URLSearchParams(url.slice(start))].toReversed())
}
