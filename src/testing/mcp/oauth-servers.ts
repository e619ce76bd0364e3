import { createHash, randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import { toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import { z } from "zod"
import { readTestRequestBody, startHttpServer, type TestHttpServer } from "./http-servers.ts"

/** The differences of an authorization server from a well-behaved one. */
export interface AuthorizationServerOptions {
  /** Scopes that are never granted. */
  withholds?: readonly string[]
  /** Changes its redirects. */
  changeRedirect?: (url: URL) => void
  /** Fields that replace those of its metadata. */
  metadata?: (own: string) => Record<string, unknown>
  /** Seconds its access tokens live. */
  tokenSeconds?: number
  /** Clients it knows without registration, with their secrets. */
  clients?: Readonly<Record<string, string>>
  registers?: boolean
}

interface Grant {
  scope: string
  client: string
  refresh?: string
}

/** An authorization server on loopback that checks its requests as OAuth requires. */
export async function authorizationServer(options: AuthorizationServerOptions = {}) {
  const clients = new Map<string, { secret?: string; redirects: readonly string[] }>(
    Object.entries(options.clients ?? {}).map(([id, secret]) => [id, { secret, redirects: [] }]),
  )
  const codes = new Map<string, { challenge: string; redirect: string; scope: string; client: string }>()
  const access = new Map<string, Grant>()
  const refresh = new Map<string, Grant>()
  const requests: { path: string; body: Record<string, string> }[] = []
  const revoked: string[] = []
  const issueTokens = (given: Omit<Grant, "refresh">, renewable: boolean) => {
    const scope = given.scope.split(" ").filter((one) => !(options.withholds ?? []).includes(one))
    const issued = { ...given, scope: scope.join(" ") }
    const [token, again] = [`secret-access-${randomUUID()}`, `secret-refresh-${randomUUID()}`]
    access.set(token, issued)
    if (renewable) refresh.set(again, issued)
    return {
      access_token: token,
      token_type: "Bearer",
      expires_in: options.tokenSeconds ?? 3600,
      scope: issued.scope,
      ...(renewable ? { refresh_token: again } : {}),
    }
  }
  const grant = (form: Record<string, string>, client: string): object => {
    if (form["grant_type"] === "authorization_code") {
      const code = codes.get(form["code"] ?? "")
      codes.delete(form["code"] ?? "")
      const challenge = createHash("sha256")
        .update(form["code_verifier"] ?? "")
        .digest("base64url")
      const fits = code?.challenge === challenge && code.redirect === form["redirect_uri"] && code.client === client
      return fits ? issueTokens({ scope: code.scope, client }, true) : { error: "invalid_grant" }
    }
    if (form["grant_type"] === "refresh_token") {
      const given = refresh.get(form["refresh_token"] ?? "")
      refresh.delete(form["refresh_token"] ?? "")
      return given === undefined ? { error: "invalid_grant" } : issueTokens(given, true)
    }
    if (form["grant_type"] !== "client_credentials") return { error: "unsupported_grant_type" }
    return issueTokens({ scope: form["scope"] ?? "", client }, false)
  }
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url!, issuer)
    const text = await readTestRequestBody(request)
    const isForm = request.headers["content-type"] === "application/x-www-form-urlencoded"
    const form = isForm ? Object.fromEntries(new URLSearchParams(text)) : {}
    if (request.method === "POST") requests.push({ path: url.pathname, body: form })
    if (url.pathname === "/.well-known/oauth-authorization-server") {
      return json(response, 200, { ...metadataOf(issuer, options), ...options.metadata?.(issuer) })
    }
    if (url.pathname === "/register" && options.registers !== false) {
      const { redirect_uris: redirects } = JSON.parse(text) as { redirect_uris: string[] }
      const id = `client-${randomUUID()}`
      clients.set(id, { redirects })
      return json(response, 201, { ...JSON.parse(text), client_id: id })
    }
    if (url.pathname === "/authorize") {
      const query = Object.fromEntries(url.searchParams)
      const client = clients.get(query["client_id"] ?? "")
      const redirect = query["redirect_uri"] ?? ""
      const known = client !== undefined && (client.secret !== undefined || client.redirects.includes(redirect))
      if (!known || query["code_challenge_method"] !== "S256") return json(response, 400, { error: "invalid_request" })
      const code = `secret-code-${randomUUID()}`
      codes.set(code, {
        challenge: query["code_challenge"]!,
        redirect,
        scope: query["scope"] ?? "",
        client: query["client_id"]!,
      })
      const back = new URL(redirect)
      back.search = new URLSearchParams({ code, state: query["state"] ?? "", iss: issuer }).toString()
      options.changeRedirect?.(back)
      return void response.writeHead(302, { location: back.href }).end()
    }
    if (url.pathname === "/token" || url.pathname === "/revoke") {
      const client = clientOf(request, form, clients)
      if (client === undefined) return json(response, 401, { error: "invalid_client" })
      if (url.pathname === "/revoke") {
        revoked.push(form["token"]!)
        access.delete(form["token"]!)
        refresh.delete(form["token"]!)
        return void response.writeHead(200).end()
      }
      const granted = grant(form, client)
      return json(response, "error" in granted ? 400 : 200, granted)
    }
    response.writeHead(404).end()
  }
  const server: TestHttpServer = await startHttpServer((request, response) => void answer(request, response))
  const issuer = `http://127.0.0.1:${server.port}`
  return {
    issuer,
    requests,
    revoked,
    stop: server.stop,
    scopeOf: (token: string | undefined) => access.get(token ?? "")?.scope.split(" "),
    /** Ends the access tokens, and with `all` the refresh tokens too. */
    expire(all = false) {
      access.clear()
      if (all) refresh.clear()
    },
  }
}

export type AuthorizationServer = Awaited<ReturnType<typeof authorizationServer>>

/** An MCP server that requires a token with the scope *use*, and *write* for its tool of that name. */
export async function protectedServer(authServer: () => Pick<AuthorizationServer, "issuer" | "scopeOf">) {
  const handle = toNodeHandler(createMcpHandler(() => twoTools()))
  const counts = { refused: 0, unsigned: 0 }
  const letIn: unknown[] = []
  const server: TestHttpServer = await startHttpServer((request, response) => {
    const { pathname } = new URL(request.url!, "http://local")
    const metadata = `${new URL(server.url).origin}/.well-known/oauth-protected-resource/mcp`
    if (pathname === "/.well-known/oauth-protected-resource/mcp") {
      return json(response, 200, { resource: server.url, authorization_servers: [authServer().issuer] })
    }
    if (pathname !== "/mcp") return void response.writeHead(404).end()
    const token = request.headers.authorization?.replace("Bearer ", "")
    const scopes = authServer().scopeOf(token)
    const challenge = (status: number, words: string) => {
      counts.refused++
      if (token === undefined) counts.unsigned++
      response.writeHead(status, { "www-authenticate": `Bearer ${words}, resource_metadata="${metadata}"` }).end()
    }
    if (scopes === undefined) return challenge(401, 'error="invalid_token", scope="use"')
    const wanted = request.headers["mcp-name"] === "write" ? "write" : "use"
    if (!scopes.includes(wanted)) return challenge(403, `error="insufficient_scope", scope="${wanted}"`)
    letIn.push(request.headers["mcp-method"])
    void handle(request as never, response)
  })
  return { ...server, counts, letIn }
}

/** Opens the address as a browser does and returns where it is redirected. */
export async function approveSignIn(address: string): Promise<string> {
  const answer = await fetch(address, { redirect: "manual" })
  const location = answer.headers.get("location")
  if (location === null) throw new Error(`The authorization server answered ${answer.status}: ${await answer.text()}`)
  return location
}

function metadataOf(issuer: string, options: AuthorizationServerOptions): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    revocation_endpoint: `${issuer}/revoke`,
    ...(options.registers === false ? {} : { registration_endpoint: `${issuer}/register` }),
    response_types_supported: ["code"],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none", "client_secret_basic"],
    authorization_response_iss_parameter_supported: true,
  }
}

function clientOf(
  { headers: { authorization } }: IncomingMessage,
  form: Record<string, string>,
  clients: ReadonlyMap<string, { secret?: string }>,
): string | undefined {
  const [id = "", secret] =
    authorization === undefined
      ? [form["client_id"]]
      : Buffer.from(authorization.replace("Basic ", ""), "base64").toString().split(":").map(decodeURIComponent)
  const known = clients.get(id)
  return known !== undefined && known.secret === secret ? id : undefined
}

function twoTools(): McpServer {
  const server = new McpServer({ name: "guarded", version: "1.0.0" }, { capabilities: { tools: {} } })
  for (const name of ["read", "write"]) {
    server.registerTool(name, { description: name, inputSchema: z.object({}) }, () => ({
      content: [{ type: "text", text: `${name} done` }],
    }))
  }
  return server
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value))
}
