import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { packageFile } from "./suite.ts"

/** How a client reaches the app. */
export type ConnectionTarget =
  | { readonly url: string; readonly token: string }
  | { readonly command: string; readonly args: string[]; readonly cwd: string; readonly env: Record<string, string> }

export interface Elicited {
  message: string
  requestedSchema?: { properties: Record<string, Record<string, unknown>>; required?: string[] }
}

export interface Handlers {
  /** The answer of the person at the client. Without it the client does not support elicitation. */
  elicit?: (params: Elicited) => { action: "accept" | "decline" | "cancel"; content?: Record<string, unknown> }
  onToolsChanged?: () => void
}

export interface Content {
  type: string
  text?: string
  data?: string
  mimeType?: string
  uri?: string
}

/** What the clients of both SDKs have in common. */
export interface StockClient {
  listTools(): Promise<{ tools: { name: string; title?: string; annotations?: object; inputSchema: object }[] }>
  callTool(
    params: { name: string; arguments: Record<string, unknown> },
    options?: { onprogress?: (progress: { progress: number; total?: number }) => void; signal?: AbortSignal },
  ): Promise<{ content: Content[]; structuredContent?: Record<string, unknown>; isError?: boolean }>
  listResources(): Promise<{ resources: { uri: string; name: string }[] }>
  readResource(params: { uri: string }): Promise<{ contents: { uri: string; text?: string; blob?: string }[] }>
  listPrompts(): Promise<{ prompts: { name: string }[] }>
  getPrompt(params: { name: string; arguments?: Record<string, string> }): Promise<{ messages: { content: Content }[] }>
  close(): Promise<void>
}

const info = { name: "stock-client", version: "1.0.0" }
const capabilitiesFor = ({ elicit }: Handlers) => (elicit === undefined ? {} : { elicitation: { form: {} } })

/** Third-party clients: of the era with sessions, and of the one without. */
export const stockClients: Record<string, (target: ConnectionTarget, handlers?: Handlers) => Promise<StockClient>> = {
  "SDK v1": async (target, handlers = {}) => {
    const load = <T>(file: string) => import(packageFile("sdk/dist/esm", file)) as Promise<T>
    const sdk = await load<FirstSdk>("client/index.js")
    const types = await load<FirstTypes>("types.js")
    const { StreamableHTTPClientTransport: Http } = await load<FirstHttp>("client/streamableHttp.js")
    const { StdioClientTransport: Stdio } = await load<FirstStdio>("client/stdio.js")
    const client = new sdk.Client(info, { capabilities: capabilitiesFor(handlers) })
    const { elicit, onToolsChanged } = handlers
    if (elicit !== undefined)
      client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => takeTime(elicit(params)))
    if (onToolsChanged !== undefined)
      client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => onToolsChanged())
    await client.connect("url" in target ? new Http(new URL(target.url), withToken(target.token)) : new Stdio(target))
    const { callTool: _other, ...rest } = bound(client as unknown as StockClient)
    return { ...rest, callTool: (params, options) => client.callTool(params, undefined, options) }
  },

  "SDK v2": async (target, handlers = {}) => {
    const { elicit, onToolsChanged } = handlers
    const client = new Client(info, {
      capabilities: capabilitiesFor(handlers),
      versionNegotiation: { mode: "auto" },
      ...(onToolsChanged === undefined
        ? {}
        : { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => onToolsChanged() } } }),
    })
    if (elicit !== undefined)
      client.setRequestHandler(
        "elicitation/create",
        ({ params }) => takeTime(elicit(params as unknown as Elicited)) as never,
      )
    await client.connect(
      "url" in target
        ? new StreamableHTTPClientTransport(new URL(target.url), withToken(target.token))
        : new StdioClientTransport(target),
    )
    return bound(client as unknown as StockClient)
  },
}

/** An answer within half a second does not count as a person's. */
function takeTime<T>(answer: T): Promise<T> {
  return new Promise((resolve) => setTimeout(() => resolve(answer), 600))
}

function withToken(token: string) {
  return { requestInit: { headers: { Authorization: `Bearer ${token}` } } }
}

/** The client's methods, bound to it. */
function bound(client: StockClient): StockClient {
  return {
    listTools: () => client.listTools(),
    callTool: (params, options) => client.callTool(params, options),
    listResources: () => client.listResources(),
    readResource: (params) => client.readResource(params),
    listPrompts: () => client.listPrompts(),
    getPrompt: (params) => client.getPrompt(params),
    close: () => client.close(),
  }
}

/** The types of SDK v1 that are used here; it is installed in .ci/mcp, not as our dependency. */
interface FirstSdk {
  Client: new (
    info: object,
    options: object,
  ) => Omit<StockClient, "callTool"> & {
    callTool(
      params: object,
      schema: undefined,
      options: Parameters<StockClient["callTool"]>[1],
    ): ReturnType<StockClient["callTool"]>
    connect(transport: object): Promise<void>
    setRequestHandler(schema: object, handler: (request: { params: Elicited }) => Promise<object>): void
    setNotificationHandler(schema: object, handler: () => void): void
  }
}
interface FirstTypes {
  ElicitRequestSchema: object
  ToolListChangedNotificationSchema: object
}
interface FirstHttp {
  StreamableHTTPClientTransport: new (url: URL, options: object) => object
}
interface FirstStdio {
  StdioClientTransport: new (target: object) => object
}
