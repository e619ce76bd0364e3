import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import { packageFile } from "../testing.ts"

/** How a client reaches the house. */
export type Way =
  | { readonly url: string; readonly token: string }
  | { readonly command: string; readonly args: string[]; readonly cwd: string; readonly env: Record<string, string> }

export interface Elicited {
  message: string
  requestedSchema?: { properties: Record<string, Record<string, unknown>>; required?: string[] }
}

export interface Handlers {
  /** What the person at the client says. Without it the client cannot be asked. */
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

/** Clients that others wrote: of the era with sessions, and of the one without. */
export const stockClients: Record<string, (way: Way, handlers?: Handlers) => Promise<StockClient>> = {
  "SDK v1": async (way, handlers = {}) => {
    const load = <T>(file: string) => import(packageFile("sdk/dist/esm", file)) as Promise<T>
    const sdk = await load<FirstSdk>("client/index.js")
    const types = await load<FirstTypes>("types.js")
    const { StreamableHTTPClientTransport: Http } = await load<FirstHttp>("client/streamableHttp.js")
    const { StdioClientTransport: Stdio } = await load<FirstStdio>("client/stdio.js")
    const client = new sdk.Client(info, { capabilities: capabilitiesFor(handlers) })
    const { elicit, onToolsChanged } = handlers
    if (elicit !== undefined)
      client.setRequestHandler(types.ElicitRequestSchema, ({ params }) => Promise.resolve(elicit(params)))
    if (onToolsChanged !== undefined)
      client.setNotificationHandler(types.ToolListChangedNotificationSchema, () => onToolsChanged())
    await client.connect("url" in way ? new Http(new URL(way.url), withToken(way.token)) : new Stdio(way))
    const { callTool: _other, ...same } = bound(client as unknown as StockClient)
    return { ...same, callTool: (params, options) => client.callTool(params, undefined, options) }
  },

  "SDK v2": async (way, handlers = {}) => {
    const { elicit, onToolsChanged } = handlers
    const client = new Client(info, {
      capabilities: capabilitiesFor(handlers),
      versionNegotiation: { mode: "auto" },
      ...(onToolsChanged === undefined
        ? {}
        : { listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: () => onToolsChanged() } } }),
    })
    if (elicit !== undefined)
      client.setRequestHandler("elicitation/create", ({ params }) => elicit(params as unknown as Elicited) as never)
    await client.connect(
      "url" in way
        ? new StreamableHTTPClientTransport(new URL(way.url), withToken(way.token))
        : new StdioClientTransport(way),
    )
    return bound(client as unknown as StockClient)
  },
}

function withToken(token: string) {
  return { requestInit: { headers: { Authorization: `Bearer ${token}` } } }
}

/** Methods that may be taken off their client. */
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

/** As much of the first SDK's types as is used here; it is installed beside the house, not in it. */
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
  StdioClientTransport: new (way: object) => object
}
