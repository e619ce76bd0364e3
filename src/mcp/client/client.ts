import { silentLogger, type Logger } from "../../model/logger.ts"
import type { McpServerSpec, McpToolDefinition } from "../../model/mcp.ts"
import { Connection, type Asking, type Offer, type RawResult } from "./connection.ts"
import { clientLimits } from "./limits.ts"

/** Where a server is: its address, or how it is started or reached. */
export type MCPServer =
  | string
  | (Partial<Pick<McpServerSpec, "name" | "sampling" | "roots" | "connectTimeoutMs" | "timeoutMs">> &
      Pick<McpServerSpec, "command" | "args" | "env" | "cwd" | "url" | "headers" | "transport">)

/** What a call of a tool may be given besides its arguments. */
export type MCPCallOptions = Partial<Omit<Asking, "callId" | "agentId">>

export interface MCPClientOptions {
  logger?: Logger
  /** The folder servers are told of; the current one when left out. */
  workspace?: string
  version?: string
}

/**
 * A client of one MCP server, outside of a house: nothing is decided, limited or recorded. In a house, servers of the
 * configuration become governed tools instead.
 */
export class MCPClient {
  readonly #options: MCPClientOptions
  #spec: McpServerSpec | undefined
  #connection: Connection | undefined
  #offer: Offer | undefined

  constructor(options: MCPClientOptions = {}) {
    this.#options = options
  }

  /** What the server is called; its tools are `mcp:<name>:<tool>` once they are wrapped. */
  get name(): string {
    return this.#spec?.name ?? "mcp"
  }

  /** A plain address is tried by streamable HTTP, and by SSE where that is all the server speaks. */
  async connect(server: MCPServer): Promise<void> {
    await this.disconnect()
    const given = typeof server === "string" ? { url: server } : server
    const spec: McpServerSpec = {
      name: "mcp",
      sampling: "refuse",
      roots: "workspace",
      ...given,
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
      await connection.ensure()
    } catch (error) {
      await this.disconnect()
      throw error
    }
  }

  /** What the server offers now, as it says it. */
  async listTools(): Promise<readonly McpToolDefinition[]> {
    await this.#connected().ensure()
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
