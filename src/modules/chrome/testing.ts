import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { once } from "node:events"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createQuartermaster } from "../../app/create-app.ts"
import type { Config } from "../../config/schema.ts"
import type { Quartermaster } from "../../app/quartermaster.ts"
import type { ToolResult } from "../../core/result.ts"

/** Tests that need a browser are skipped where there is none. In CI that is a failure. */
export const hasChromium = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].some(existsSync)

type Answer = string | ((request: IncomingMessage, response: ServerResponse) => void)

export interface Site {
  readonly origin: string
  readonly port: number
  /** The paths that were asked for. */
  readonly asked: string[]
  readonly server: Server
  close(): Promise<void>
}

/** A web site on loopback: pages by path. */
export async function openSite(pages: Readonly<Record<string, Answer>>): Promise<Site> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = (request.url ?? "").split("?")[0]!
    asked.push(path)
    const page = pages[path]
    if (typeof page === "function") return page(request, response)
    response.writeHead(page === undefined ? 404 : 200, { "content-type": "text/html; charset=utf-8" })
    response.end(page ?? "nothing here")
  })
  await once(server.listen(0, "127.0.0.1"), "listening")
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    asked,
    server,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The fields of all results; a test knows which of them its tool returns. */
export interface ChromeResult {
  browserId: string
  tabId: string
  url: string
  snapshot: string
  text: string
  nextOffset?: number
  images: string[]
  image: { data: string }
  height: number
  tabs: { tabId: string; url: string }[]
  dialogs: unknown
  downloads?: { path: string }[]
  refused: unknown
}

export interface ChromeApp {
  readonly app: Quartermaster
  readonly dir: string
  readonly workspace: string
  /** Calls a tool as an agent; the result, or the failure's code and sentence. */
  call(tool: string, input: unknown, more?: { agentId?: string; taskId?: string }): Promise<ToolResult>
  /** The result of a call that must succeed. */
  ok(tool: string, input: unknown): Promise<ChromeResult>
  close(): Promise<void>
}

/** An app with the chrome module, in folders of its own, for the tests of a whole file. */
export async function openChrome(settings: object = {}, config: Config = {}): Promise<ChromeApp> {
  const folder = mkdtempSync(join(tmpdir(), "qm-chrome-"))
  const [dir, workspace] = [join(folder, "data"), join(folder, "workspace")]
  mkdirSync(workspace)
  const app = await createQuartermaster(
    {
      data: { dir },
      workspace,
      modules: { chrome: settings as Record<string, unknown> },
      rules: [{ allow: "*", because: "It is a test." }],
      org: { roles: [{ name: "tester" }], agents: [{ id: "ann", role: "tester" }, { id: "bob", role: "tester" }] }, // prettier-ignore
      ...config,
    },
    { onWaiting: () => {}, home: folder },
  )
  const call: ChromeApp["call"] = (tool, input, { agentId = "ann", taskId } = {}) =>
    app.call({ agentId, tool, input, taskId })
  return {
    app,
    dir,
    workspace,
    call,
    async ok(tool, input) {
      const result = await call(tool, input)
      if (!result.success) throw new Error(`${tool}: ${result.error}`)
      return result.result as ChromeResult
    },
    async close() {
      await app.close()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
