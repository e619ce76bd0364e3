import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { messageOf } from "../model/message.ts"

/** Where a browser comes back to after a person agreed to something elsewhere. */
export interface RedirectDoor {
  readonly url: string
  close(): void
}

/**
 * Listens on this machine for a browser that comes back; on the port that is wished for, else on a free one. `take` gets
 * each address it comes with and says what the person reads there; what it throws is read there too, and it goes on
 * listening.
 */
export async function openRedirectDoor(
  port: number | undefined,
  take: (address: string) => Promise<string>,
): Promise<RedirectDoor> {
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
  const say = (status: number, text: string) => {
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
  // Another name for this address is a page elsewhere that talks through the browser.
  if (request.method !== "GET" || path !== "/callback" || request.headers.host !== host)
    return say(404, "Nothing here.")
  try {
    say(200, await take(`http://${host}${request.url}`))
  } catch (error) {
    say(400, messageOf(error))
  }
}
