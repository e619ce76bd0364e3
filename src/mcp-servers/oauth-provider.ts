import type {
  OAuthClientMetadata,
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from "@modelcontextprotocol/client"
import type { McpServerSpec } from "../core/mcp.ts"
import type { LoginTokens, Login } from "./oauth-file.ts"

/** One attempt to sign in, in memory. It is stored only when it is complete. */
export class SignInDraft implements OAuthClientProvider {
  readonly redirectUrl: string | undefined
  readonly clientMetadata: OAuthClientMetadata
  readonly clientMetadataUrl?: string
  readonly saveClientInformation?: (client: StoredOAuthClientInformation) => void
  readonly prepareTokenRequest?: (scope?: string) => URLSearchParams
  readonly #state: string
  client: StoredOAuthClientInformation | undefined
  discovery: OAuthDiscoveryState | undefined
  verifier: string | undefined
  saved: StoredOAuthTokens | undefined
  address: URL | undefined

  constructor(spec: McpServerSpec, parts: DraftParts) {
    const { auth } = spec
    const { redirectUrl, discovery } = parts
    this.redirectUrl = redirectUrl
    this.#state = parts.state ?? ""
    this.client = parts.client
    this.discovery = discovery
    this.clientMetadata = metadataOf(spec, redirectUrl, discovery)
    if (auth?.clientMetadataUrl !== undefined) this.clientMetadataUrl = auth.clientMetadataUrl
    // A configured client belongs to one authorization server; with another one it is refused, not replaced.
    if (auth?.clientId === undefined) this.saveClientInformation = (client) => void (this.client = client)
    if (redirectUrl === undefined) {
      this.prepareTokenRequest = (scope) =>
        new URLSearchParams({ grant_type: "client_credentials", ...(scope ? { scope } : {}) })
    }
  }

  state(): string {
    return this.#state
  }

  clientInformation(): StoredOAuthClientInformation | undefined {
    return this.client
  }

  tokens(): StoredOAuthTokens | undefined {
    return this.saved
  }

  saveTokens(tokens: StoredOAuthTokens): void {
    this.saved = tokens
  }

  redirectToAuthorization(address: URL): void {
    this.address = address
  }

  saveCodeVerifier(verifier: string): void {
    this.verifier = verifier
  }

  codeVerifier(): string {
    if (this.verifier === undefined) throw new Error("there is no code verifier")
    return this.verifier
  }

  saveDiscoveryState(state: OAuthDiscoveryState): void {
    this.discovery = state
  }

  discoveryState(): OAuthDiscoveryState | undefined {
    return this.discovery
  }
}

interface DraftParts {
  /** Left out when no person is needed. */
  redirectUrl?: string
  state?: string
  client: StoredOAuthClientInformation | undefined
  discovery: OAuthDiscoveryState | undefined
}

/** Our client at the authorization server; undefined when we must register first. */
export function clientFor(
  spec: McpServerSpec,
  login: Login,
  redirectUrl?: string,
): StoredOAuthClientInformation | undefined {
  const { clientId, clientSecret, clientMetadataUrl, issuer } = spec.auth ?? {}
  if (clientId !== undefined) {
    const bound = issuer ?? login.issuer
    return {
      client_id: clientId,
      ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
      ...(bound === undefined ? {} : { issuer: bound }),
    }
  }
  const { client } = login
  if (client === undefined || redirectUrl === undefined) return client
  if (client.client_id === clientMetadataUrl) return client
  return redirectsOf(client).includes(redirectUrl) ? client : undefined
}

export function redirectsOf(client: StoredOAuthClientInformation | undefined): readonly string[] {
  return client !== undefined && "redirect_uris" in client ? client.redirect_uris : []
}

/** Tokens as they are stored, with the time they expire. */
export function toLoginTokens(tokens: StoredOAuthTokens, before: LoginTokens | undefined, now: number): LoginTokens {
  const { expires_in: seconds } = tokens
  const scope = tokens.scope ?? before?.scope
  return {
    ...tokens,
    ...(scope === undefined ? {} : { scope }),
    ...(seconds === undefined ? {} : { expiresAt: now + Number(seconds) * 1000 }),
  }
}

/** A program on a person's machine cannot protect a secret, so it registers without one if that is supported. */
function metadataOf(
  { auth }: McpServerSpec,
  redirectUrl: string | undefined,
  discovery: OAuthDiscoveryState | undefined,
): OAuthClientMetadata {
  const methods = discovery?.authorizationServerMetadata?.token_endpoint_auth_methods_supported
  return {
    client_name: "Quartermaster",
    redirect_uris: redirectUrl === undefined ? [] : [redirectUrl],
    ...(redirectUrl === undefined
      ? { grant_types: ["client_credentials"] }
      : { grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] }),
    ...(methods?.includes("none") === true ? { token_endpoint_auth_method: "none" } : {}),
    ...(auth?.scopes === undefined ? {} : { scope: auth.scopes.join(" ") }),
  }
}
