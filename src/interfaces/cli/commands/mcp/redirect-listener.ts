import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { errorMessage } from "../../../../lib/error-message.ts"

/** A local URL that the browser is redirected to after signing in. */
export interface RedirectListener {
  readonly url: string
  close(): void
}

/**
 * Listens on 127.0.0.1, on `port` if it is free. `take` receives each redirect URL and returns the text of the page. If it
 * throws, the page shows the error and the listener keeps listening.
 */
export async function listenForRedirect(
  port: number | undefined,
  take: (address: string) => Promise<string>,
): Promise<RedirectListener> {
  const server = createServer((request, response) => void answer(request, response, host(), take))
  const listen = (on: number) =>
    new Promise<void>((resolve, reject) => {
      server.once("error", reject)
      server.listen(on, "127.0.0.1", () => {
        server.off("error", reject)
        resolve()
      })
    })
  const host = () => `127.0.0.1:${(server.address() as AddressInfo).port}`
  await (port === undefined ? listen(0) : listen(port).catch(() => listen(0)))
  return {
    url: `http://${host()}/callback`,
    close() {
      server.close()
      server.closeIdleConnections()
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  host: string,
  take: (address: string) => Promise<string>,
): Promise<void> {
  const reply = (status: number, text: string) => {
    response.writeHead(status, {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      connection: "close",
    })
    response.end(`${text}\n`)
  }
  const path = (request.url ?? "").split("?")[0]
  // Another Host header comes from a foreign web page (DNS rebinding).
  if (request.method !== "GET" || path !== "/callback" || request.headers.host !== host)
    return reply(404, "Nothing here.")
  try {
    reply(200, await take(`http://${host}${request.url}`))
  } catch (error) {
    reply(400, errorMessage(error))
  }
}
