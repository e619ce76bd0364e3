import { silentLogger, type Logger } from "../core/logger.ts"
import type { McpServerSpec, McpToolDefinition } from "../core/mcp.ts"
import { Connection } from "./connection.ts"
import type { RequestContext, Offer, RawResult } from "./connection-types.ts"
import { clientLimits } from "./limits.ts"

/** A server: its URL, or how it is started or reached. */
export type MCPServer =
  | string
  | (Partial<Pick<McpServerSpec, "name" | "sampling" | "roots" | "connectTimeoutMs" | "timeoutMs">> &
      Pick<McpServerSpec, "command" | "args" | "env" | "cwd" | "url" | "headers" | "transport">)

/** Options for a tool call. */
export type MCPCallOptions = Partial<Omit<RequestContext, "callId" | "agentId">>

export interface MCPClientOptions {
  logger?: Logger
  /** The folder that servers get as their root and are started in. Without it they get no root and the current folder. */
  workspace?: string
  version?: string
}

/**
 * A client of one MCP server, independent of an app: its calls are not decided, limited or recorded. In an app, use the
 * servers of the configuration instead; their tools are governed.
 */
export class MCPClient {
  readonly #options: MCPClientOptions
  #spec: McpServerSpec | undefined
  #connection: Connection | undefined
  #offer: Offer | undefined

  constructor(options: MCPClientOptions = {}) {
    this.#options = options
  }

  /** The server's name. Wrapped tools are named `mcp:<name>:<tool>`. */
  get name(): string {
    return this.#spec?.name ?? "mcp"
  }

  /** Connects to a server. A plain URL is tried with streamable HTTP first, then with SSE. */
  async connect(server: MCPServer): Promise<void> {
    await this.disconnect()
    const address = typeof server === "string" ? { url: server } : server
    const spec: McpServerSpec = {
      name: "mcp",
      sampling: "refuse",
      ...(this.#options.workspace === undefined ? {} : { roots: "workspace" as const }),
      ...address,
      enabled: true,
      layer: "system",
      prefix: true,
      trust: "first",
    }
    const connection = new Connection(spec, {
      logger: this.#options.logger ?? silentLogger,
      workspace: this.#options.workspace ?? process.cwd(),
      version: this.#options.version ?? "0",
      onOffer: (offer) => (this.#offer = offer),
      onState() {},
      onResourceUpdated() {},
    })
    this.#spec = spec
    this.#connection = connection
    try {
      await connection.ensureConnected()
    } catch (error) {
      await this.disconnect()
      throw error
    }
  }

  /** The tools the server offers now, with its own definitions. */
  async listTools(): Promise<readonly McpToolDefinition[]> {
    await this.#connected().ensureConnected()
    return this.#offer!.tools
  }

  /** The result as the server sent it; a tool that failed has `isError` in it. */
  async callTool(
    name: string,
    args: Readonly<Record<string, unknown>> = {},
    options: MCPCallOptions = {},
  ): Promise<RawResult> {
    return await this.#connected().callTool(name, args, {
      signal: new AbortController().signal,
      timeoutMs: this.#spec?.timeoutMs ?? clientLimits.callMs,
      ...options,
      callId: "",
      agentId: "",
    })
  }

  async disconnect(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    this.#offer = undefined
    await connection?.close()
  }

  #connected(): Connection {
    if (this.#connection === undefined) throw new Error("The client is not connected. Call connect first.")
    return this.#connection
  }
}
