import { randomBytes, timingSafeEqual } from "node:crypto"
import {
  auth,
  computeScopeUnion,
  exchangeAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client"
import { parseUrl } from "../lib/url.ts"
import { UnmatchedSignInRedirect, type McpServerSpec, type McpSignedIn, type McpSignIn } from "../core/mcp.ts"
import { addressProblem, authorizationFetch } from "./oauth-fetch.ts"
import type { Login, LoginFile, PendingSignIn } from "./oauth-file.ts"
import { clientFor, toLoginTokens, redirectsOf, SignInDraft } from "./oauth-provider.ts"
import { clientLogin, discover } from "./oauth-renew.ts"
import { safeErrorCode, signInProblem } from "./oauth-messages.ts"

/** Time for a person to sign in. */
const pendingMs = 15 * 60_000

/** The port for the redirect that the authorization server knows already. */
export function preferredPort(spec: McpServerSpec, login: Login): number | undefined {
  const [known] = redirectsOf(login.client)
  return spec.auth?.redirectPort ?? (Number(parseUrl(known ?? "")?.port) || undefined)
}

/** Discovers the authorization server and returns the URL that a person opens. The login file stores the pending sign-in. */
export async function beginSignIn(spec: McpServerSpec, file: LoginFile, redirectUrl: string): Promise<McpSignIn> {
  const server = new URL(spec.url!)
  const login = file.read()
  const fetchFn = authorizationFetch(server)
  const currentScope = login.tokens?.scope ?? login.asked
  const scope = computeScopeUnion(spec.auth?.scopes?.join(" "), login.wanted?.scope ?? currentScope)
  return withSignInError(spec, async () => {
    const discovery = await discover(spec, login, fetchFn)
    const state = randomBytes(32).toString("base64url")
    const draft = new SignInDraft(spec, { redirectUrl, state, client: clientFor(spec, login, redirectUrl), discovery })
    await auth(draft, {
      serverUrl: server,
      forceReauthorization: true,
      fetchFn,
      ...(scope === undefined ? {} : { scope }),
    })
    const { address, verifier, client } = draft
    if (address === undefined || verifier === undefined || client === undefined)
      throw new Error("the sign-in needs no person")
    const problem = addressProblem(address, server)
    if (problem !== undefined) throw new Error(problem)
    const requestedScope = address.searchParams.get("scope") ?? undefined
    const pending = {
      state,
      verifier,
      redirectUrl,
      scope: requestedScope,
      client,
      discovery: draft.discovery!,
      at: Date.now(),
    }
    await file.change((before) => ({ ...before, pending }))
    return { url: address.href, redirectUrl }
  })
}

/** Finishes a sign-in with the URL the browser was redirected to. It must belong to the sign-in that began last. */
export async function finishSignIn(spec: McpServerSpec, file: LoginFile, redirected: string): Promise<McpSignedIn> {
  const { pending } = file.read()
  if (pending === undefined || Date.now() - pending.at > pendingMs) {
    throw new Error(`No sign-in to ${spec.name} is pending. Begin one: qm mcp login ${spec.name}`)
  }
  const answer = answerIn(redirected, pending)
  // A code is valid for one try, whether it succeeds or not.
  await file.change((login) => ({ ...login, pending: undefined }))
  return withSignInError(spec, async () => {
    const { client, discovery, scope } = pending
    const metadata = discovery.authorizationServerMetadata
    validateAuthorizationResponseIssuer({
      iss: answer.iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    })
    if (answer.code === undefined)
      throw new Error(`the authorization server answered ${safeErrorCode(answer.error ?? "")}`)
    const issuer = metadata?.issuer ?? discovery.authorizationServerUrl
    const issued = { ...(await exchangeCode(spec, pending, answer.code, answer.iss)), issuer }
    const tokens = toLoginTokens(issued, scope === undefined ? undefined : { ...issued, scope }, Date.now())
    const registration = spec.auth?.clientId === undefined ? { client } : {}
    await file.change(() => ({ ...registration, discovery, tokens, issuer, asked: scope }))
    return signedIn(spec, file.read())
  })
}

function exchangeCode(spec: McpServerSpec, pending: PendingSignIn, code: string, iss: string | undefined) {
  const { client, discovery, verifier, redirectUrl } = pending
  const { authorizationServerUrl, authorizationServerMetadata: metadata, resourceMetadata } = discovery
  return exchangeAuthorization(authorizationServerUrl, {
    ...(metadata === undefined ? {} : { metadata }),
    clientInformation: client,
    authorizationCode: code,
    ...(iss === undefined ? {} : { iss }),
    codeVerifier: verifier,
    redirectUri: redirectUrl,
    ...(resourceMetadata === undefined ? {} : { resource: resourceMetadata.resource }),
    fetchFn: authorizationFetch(new URL(spec.url!)),
  })
}

/** Signs in with the client's own secret, without a person. */
export async function signInWithClientSecret(spec: McpServerSpec, file: LoginFile): Promise<McpSignedIn> {
  return withSignInError(spec, async () => {
    const fetchFn = authorizationFetch(new URL(spec.url!))
    return signedIn(spec, await file.change((login) => clientLogin(spec, login, fetchFn)))
  })
}

/** Asks the authorization server to revoke the tokens. Returns whether it did. */
export async function revokeLogin(spec: McpServerSpec, login: Login): Promise<boolean> {
  const { tokens, discovery } = login
  const metadata = discovery?.authorizationServerMetadata
  const endpoint = (metadata as { revocation_endpoint?: string } | undefined)?.revocation_endpoint
  const client = clientFor(spec, login)
  if (tokens === undefined || endpoint === undefined || client === undefined) return false
  const fetchFn = authorizationFetch(new URL(spec.url!))
  const kinds = [
    ["refresh_token", tokens.refresh_token],
    ["access_token", tokens.access_token],
  ] as const
  const revocations = kinds.map(async ([kind, token]) => {
    if (token === undefined) return true
    const body = new URLSearchParams({ token, token_type_hint: kind })
    const headers = new Headers({ "content-type": "application/x-www-form-urlencoded" })
    const methods = metadata?.token_endpoint_auth_methods_supported ?? ["client_secret_basic"]
    if (client.client_secret !== undefined && methods.includes("client_secret_basic")) {
      const pair = [client.client_id, client.client_secret].map(encodeURIComponent).join(":")
      headers.set("authorization", `Basic ${Buffer.from(pair).toString("base64")}`)
    } else {
      body.set("client_id", client.client_id)
      if (client.client_secret !== undefined) body.set("client_secret", client.client_secret)
    }
    return (await fetchFn(endpoint, { method: "POST", headers, body })).ok
  })
  return (await Promise.allSettled(revocations)).every((result) => result.status === "fulfilled" && result.value)
}

function signedIn({ name }: McpServerSpec, { tokens, issuer }: Login): McpSignedIn {
  const scopes = (tokens?.scope ?? "").split(" ").filter((scope) => scope !== "")
  return { server: name, scopes, issuer: issuer ?? "" }
}

interface RedirectAnswer {
  code: string | undefined
  error: string | undefined
  iss: string | undefined
}

/** Reads the redirect URL. It must have our address and the state that only the authorization server knows. */
function answerIn(redirected: string, { redirectUrl, state }: PendingSignIn): RedirectAnswer {
  const expected = new URL(redirectUrl)
  const url = parseUrl(redirected.trim())
  if (url === undefined || url.origin !== expected.origin || url.pathname !== expected.pathname) {
    throw new UnmatchedSignInRedirect(
      `That is not the address to which the browser returns. It begins with ${redirectUrl}?`,
    )
  }
  const returned = url.searchParams.get("state") ?? ""
  if (returned.length !== state.length || !timingSafeEqual(Buffer.from(returned), Buffer.from(state))) {
    throw new UnmatchedSignInRedirect(
      "That does not belong to the sign-in that began last. Open the address that was shown last.",
    )
  }
  const parameter = (name: string) => url.searchParams.get(name) ?? undefined
  return {
    code: parameter("error") === undefined ? parameter("code") : undefined,
    error: parameter("error"),
    iss: parameter("iss"),
  }
}

async function withSignInError<T>({ name }: McpServerSpec, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`Signing in to ${name} failed: ${signInProblem(error)}.`, { cause: error })
  }
}
