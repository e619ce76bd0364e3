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
import type { McpServerSpec } from "../../model/mcp.ts"
import type { Login } from "./oauth-file.ts"
import { clientFor, keptTokens, SignInDraft } from "./oauth-provider.ts"

/** What a refused refresh says: there is no use in trying it again. */
const final: ReadonlySet<string> = new Set([
  OAuthErrorCode.InvalidGrant,
  OAuthErrorCode.InvalidClient,
  OAuthErrorCode.UnauthorizedClient,
  OAuthErrorCode.InvalidScope,
  OAuthErrorCode.InvalidRequest,
  OAuthErrorCode.UnsupportedGrantType,
  OAuthErrorCode.AccessDenied,
])

/** Newer tokens for a sign-in of a person, from the server that gave the last; undefined when a person has to sign in again. */
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
    const stamped = issuer === undefined ? fresh : { ...fresh, issuer }
    return { ...login, tokens: keptTokens(stamped, tokens, Date.now()) }
  } catch (error) {
    if (error instanceof OAuthError && final.has(error.code)) return undefined
    throw error
  }
}

/** Tokens for the house itself, by the secret of its client. */
export async function clientLogin(spec: McpServerSpec, login: Login, fetchFn: FetchLike): Promise<Login> {
  const discovery = await discover(spec, login, fetchFn)
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery
  const draft = new SignInDraft(spec, { client: clientFor(spec, login), discovery })
  const allowed = await selectResourceURL(spec.url!, draft, resourceMetadata)
  const asked =
    computeScopeUnion(spec.auth?.scopes?.join(" "), login.wanted?.scope ?? login.asked) ??
    resourceMetadata?.scopes_supported?.join(" ")
  const tokens = await fetchToken(draft, authorizationServerUrl, {
    ...(metadata === undefined ? {} : { metadata }),
    ...(allowed === undefined ? {} : { resource: resourceMetadata?.resource ?? allowed }),
    ...(asked === undefined ? {} : { scope: asked }),
    fetchFn,
  })
  const issuer = metadata?.issuer ?? authorizationServerUrl
  return {
    ...login,
    discovery,
    tokens: keptTokens({ ...tokens, issuer }, undefined, Date.now()),
    issuer,
    asked,
    wanted: undefined,
  }
}

/** Asks the server who gives tokens for it, and that one how it does: it may be another by now. */
export async function discover(spec: McpServerSpec, login: Login, fetchFn: FetchLike): Promise<OAuthDiscoveryState> {
  const told = login.wanted?.resourceMetadataUrl ?? login.discovery?.resourceMetadataUrl
  if (told === undefined) return discoverOAuthServerInfo(spec.url!, { fetchFn })
  const found = await discoverOAuthServerInfo(spec.url!, { fetchFn, resourceMetadataUrl: new URL(told) })
  return { ...found, resourceMetadataUrl: told }
}
