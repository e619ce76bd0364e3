import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import type { ToolResult } from "../../model/result.ts"
import type { Tool } from "../../model/tool.ts"
import { openMany } from "../../testing/open.ts"
import { openPages } from "../../world/web/pages.ts"
import { openWeb } from "../../world/web/web.ts"
import { networkTools, type NetworkOptions } from "./index.ts"

type Search = Partial<Pick<NetworkOptions, "webSearch" | "environment">>

/** The houses of one test stand over one store. */
let store: ReturnType<typeof openMany> | undefined

function storeOfTest(): ReturnType<typeof openMany> {
  if (store === undefined) {
    store = openMany()
    onTestFinished(() => void (store = undefined))
  }
  return store
}

/** The tools over the real network, which reaches here only what is in `allow`. */
export function toolsOf(allow: readonly string[], search: Search = {}): Tool[] {
  const lines = allow.map((text, at) => ({ text, source: `tools.hosts.allow[${at}]` }))
  const web = openWeb({ allow: lines, deny: [], own: () => [] })
  onTestFinished(() => web.close())
  return networkTools({ web, pages: openPages(), environment: {}, ...search })
}

/** The house with its own tools of the network, of which nobody is asked. */
export async function house(allow: readonly string[], { webSearch, environment = {} }: Search = {}) {
  const { house } = await storeOfTest()
  const rules = [{ allow: "*", effect: "network" as const, because: "A test." }]
  const tools = {
    hosts: { allow: [...allow] },
    ...(webSearch === undefined ? {} : { webSearch: withoutGaps(webSearch) }),
  }
  const system = house({ rules, tools }, { environment })
  const call = <Result = Record<string, unknown>>(tool: string, input: unknown) =>
    system.call({ agentId: "operator", tool, input }) as Promise<ToolResult<Result>>
  return { system, call }
}

function withoutGaps(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

export async function serve(answer: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, at: (path: string) => `http://127.0.0.1:${port}${path}` }
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = []
  for await (const part of request as AsyncIterable<Buffer>) parts.push(part)
  return Buffer.concat(parts).toString()
}
