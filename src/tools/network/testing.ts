import { once } from "node:events"
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import type { ToolResult } from "../../core/result.ts"
import type { Tool } from "../../core/tool.ts"
import { openTestApps } from "../../testing/test-app.ts"
import { openPages } from "../../platform/web/pages.ts"
import { openWeb } from "../../platform/web/web.ts"
import { networkTools, type NetworkOptions } from "./index.ts"

type Search = Partial<Pick<NetworkOptions, "webSearch" | "environment">>

/** All apps of one test share a store. */
let store: ReturnType<typeof openTestApps> | undefined

function storeOfTest(): ReturnType<typeof openTestApps> {
  if (store === undefined) {
    store = openTestApps()
    onTestFinished(() => void (store = undefined))
  }
  return store
}

/** The tools over the real network, which reaches here only what is in `allow`. */
export function openNetworkTools(allow: readonly string[], search: Search = {}): Tool[] {
  const lines = allow.map((text, at) => ({ text, source: `tools.hosts.allow[${at}]` }))
  const web = openWeb({ allow: lines, deny: [], own: () => [] })
  onTestFinished(() => web.close())
  return networkTools({ web, pages: openPages(), environment: {}, ...search })
}

/** An app with its network tools, which run without approval. */
export async function openNetworkApp(allow: readonly string[], { webSearch, environment = {} }: Search = {}) {
  const { openApp } = await storeOfTest()
  const rules = [{ allow: "*", effect: "network" as const, because: "A test." }]
  const tools = {
    hosts: { allow: [...allow] },
    ...(webSearch === undefined ? {} : { webSearch: withoutGaps(webSearch) }),
  }
  const system = await openApp({ rules, tools }, { environment })
  const call = <Result = Record<string, unknown>>(tool: string, input: unknown) =>
    system.call({ agentId: "operator", tool, input }) as Promise<ToolResult<Result>>
  return { system, call }
}

function withoutGaps(options: object): object {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
}

export async function serveForTest(answer: (request: IncomingMessage, response: ServerResponse) => unknown) {
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
