import {
  computeScopeUnion,
  discoverOAuthServerInfo,
  fetchToken,
  OAuthError,
  OAuthErrorCode,
  refreshAuthorization,
  selectResourceURL,
  type FetchLike,
  type OAuthDiscoveryState,
} from "@modelcontextprotocol/client"
import type { McpServerSpec } from "../core/mcp.ts"
import type { Login } from "./oauth-file.ts"
import { clientFor, toLoginTokens, SignInDraft } from "./oauth-provider.ts"

/** Errors of a refresh that make another try useless. */
const permanentErrors: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
  OAuthErrorCode.InvalidScope,
  OAuthErrorCode.InvalidRequest,
  OAuthErrorCode.UnsupportedGrantType,
  OAuthErrorCode.AccessDenied,
])

/** Refreshes the tokens of a person's sign-in; undefined when the person must sign in again. */
export async function refreshedLogin(
  spec: McpServerSpec,
  login: Login,
  fetchFn: FetchLike,
): Promise<Login | undefined> {
  const { tokens, discovery } = login
  const client = clientFor(spec, login)
  if (tokens?.refresh_token === undefined || discovery === undefined || client === undefined) return undefined
  const resource = discovery.resourceMetadata?.resource
  try {
    const fresh = await refreshAuthorization(discovery.authorizationServerUrl, {
      ...(discovery.authorizationServerMetadata === undefined
        ? {}
        : { metadata: discovery.authorizationServerMetadata }),
      clientInformation: client,
      refreshToken: tokens.refresh_token,
      ...(resource === undefined ? {} : { resource }),
      fetchFn,
    })
    const { issuer } = tokens
    const withIssuer = issuer === undefined ? fresh : { ...fresh, issuer }
    return { ...login, tokens: toLoginTokens(withIssuer, tokens, Date.now()) }
  } catch (error) {
    if (error instanceof OAuthError && permanentErrors.has(error.code)) return undefined
    throw error
  }
}

/** Gets tokens for the app itself, with the secret of its client. */
export async function clientLogin(spec: McpServerSpec, login: Login, fetchFn: FetchLike): Promise<Login> {
  const discovery = await discover(spec, login, fetchFn)
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery
  const draft = new SignInDraft(spec, { client: clientFor(spec, login), discovery })
  const allowed = await selectResourceURL(spec.url!, draft, resourceMetadata)
  const scope =
    computeScopeUnion(spec.auth?.scopes?.join(" "), login.wanted?.scope ?? login.asked) ??
    resourceMetadata?.scopes_supported?.join(" ")
  const tokens = await fetchToken(draft, authorizationServerUrl, {
    ...(metadata === undefined ? {} : { metadata }),
    ...(allowed === undefined ? {} : { resource: resourceMetadata?.resource ?? allowed }),
    ...(scope === undefined ? {} : { scope }),
    fetchFn,
  })
  const issuer = metadata?.issuer ?? authorizationServerUrl
  return {
    ...login,
    discovery,
    tokens: toLoginTokens({ ...tokens, issuer }, undefined, Date.now()),
    issuer,
    asked: scope,
    wanted: undefined,
  }
}

/** Discovers the server's authorization server again: it may have changed. */
export async function discover(spec: McpServerSpec, login: Login, fetchFn: FetchLike): Promise<OAuthDiscoveryState> {
  const resourceMetadataUrl = login.wanted?.resourceMetadataUrl ?? login.discovery?.resourceMetadataUrl
  if (resourceMetadataUrl === undefined) return discoverOAuthServerInfo(spec.url!, { fetchFn })
  const found = await discoverOAuthServerInfo(spec.url!, { fetchFn, resourceMetadataUrl: new URL(resourceMetadataUrl) })
  return { ...found, resourceMetadataUrl }
}
