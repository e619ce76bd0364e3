import { plainSpec } from "../../testing/mcp/connections.ts"
import { readTestRequestBody, startHttpServer, plainAnswer, type PlainMessage } from "../../testing/mcp/http-servers.ts"

export const httpSpec = (url: string, more: Parameters<typeof plainSpec>[0] = {}) =>
  plainSpec({ name: "far", url, ...more })

/** A server of 2025 that responds with JSON, except for calls that the test answers itself. */
export function customServer(
  answer: (message: PlainMessage, respond: (text: string, type?: string) => void) => boolean,
) {
  return startHttpServer(async (request, response) => {
    if (request.method !== "POST") return void response.writeHead(405).end()
    const message = JSON.parse(await readTestRequestBody(request)) as PlainMessage
    const respond = (text: string, type = "application/json") => {
      response.writeHead(200, { "content-type": type })
      response.end(text)
    }
    if (message.method === "tools/call" && answer(message, respond)) return
    const result = plainAnswer(message)
    if (result === undefined) return void response.writeHead(202).end()
    respond(JSON.stringify(result))
  })
}
