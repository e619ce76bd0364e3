import type { IncomingMessage, ServerResponse } from "node:http"
import { answer, problemAnswer, type Answered } from "../routes/answer.ts"
import type { Api } from "../routes/endpoint.ts"
import { endpoints } from "../routes/endpoints.ts"
import { bodyTooLong } from "../routes/problem.ts"
import { readRequestBody } from "./read-request-body.ts"

const callPath = /^\/v1\/tools\/([\w.:-]+)\/call$/

/**
 * Takes calls of agents without Hono, because they are what a server does all day: no Request, no stream and no Response
 * is made for them. Everything else about them is the same. Returns false for what it leaves to Hono.
 */
export function directCalls(api: Api, maxBytes: number) {
  const endpoint = endpoints.find(({ path }) => path === "/v1/tools/{name}/call")!
  return (path: string, request: IncomingMessage, response: ServerResponse): boolean => {
    const { method = "", headers } = request
    const name = method === "POST" && headers.authorization !== undefined ? callPath.exec(path)?.[1] : undefined
    if (name === undefined) return false
    const header = (key: string) => {
      const value = headers[key]
      return Array.isArray(value) ? value.join(", ") : value
    }
    readRequestBody(request, maxBytes, (body) => {
      if (body === undefined) {
        response.setHeader("connection", "close")
        send(response, problemAnswer(bodyTooLong(maxBytes)))
        request.resume()
        return
      }
      const params = { name }
      answer(endpoint, api, { method, header, params, query: {}, text: () => body, signal: api.closing }).then(
        (answered) => send(response, answered as Answered),
        (error: unknown) => send(response, problemAnswer(error)),
      )
    })
    return true
  }
}

function send(response: ServerResponse, { status, headers, text }: Answered): void {
  const body = text ?? ""
  response.writeHead(status, { ...headers, "content-length": Buffer.byteLength(body) })
  response.end(body)
}
