import { randomBytes, timingSafeEqual } from "node:crypto"
import {
  auth,
  computeScopeUnion,
  exchangeAuthorization,
  validateAuthorizationResponseIssuer,
} from "@modelcontextprotocol/client"
import { readUrl } from "../../model/address.ts"
import { StrayAnswer, type McpServerSpec, type McpSignedIn, type McpSignIn } from "../../model/mcp.ts"
import { addressProblem, authorizationFetch } from "./oauth-fetch.ts"
import type { Login, LoginFile, PendingSignIn } from "./oauth-file.ts"
import { clientFor, keptTokens, redirectsOf, SignInDraft } from "./oauth-provider.ts"
import { clientLogin, discover } from "./oauth-renew.ts"
import { codeText, signInProblem } from "./oauth-words.ts"

/** How long a person may take between the address and the answer. */
const pendingMs = 15 * 60_000

/** The port that should be listened on, because the authorization server knows it already. */
export function usualPort(spec: McpServerSpec, login: Login): number | undefined {
  const [known] = redirectsOf(login.client)
  return spec.auth?.redirectPort ?? (Number(readUrl(known ?? "")?.port) || undefined)
}

/** Finds out where one signs in and makes the address a person opens. What it takes to end it is kept in the file. */
export async function beginSignIn(spec: McpServerSpec, file: LoginFile, redirectUrl: string): Promise<McpSignIn> {
  const server = new URL(spec.url!)
  const login = file.read()
  const fetchFn = authorizationFetch(server)
  const had = login.tokens?.scope ?? login.asked
  const scope = computeScopeUnion(spec.auth?.scopes?.join(" "), login.wanted?.scope ?? had)
  return explained(spec, async () => {
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
      throw new Error("nobody was to be sent")
    const problem = addressProblem(address, server)
    if (problem !== undefined) throw new Error(problem)
    const asked = address.searchParams.get("scope") ?? undefined
    const pending = { state, verifier, redirectUrl, scope: asked, client, discovery: draft.discovery!, at: Date.now() }
    await file.change((before) => ({ ...before, pending }))
    return { url: address.href, redirectUrl }
  })
}

/** Ends a sign-in with the address the browser came back to; only what answers the last one that began is taken. */
export async function finishSignIn(spec: McpServerSpec, file: LoginFile, redirected: string): Promise<McpSignedIn> {
  const { pending } = file.read()
  if (pending === undefined || Date.now() - pending.at > pendingMs) {
    throw new Error(`No sign-in at ${spec.name} waits for an answer. Begin one: qm mcp login ${spec.name}`)
  }
  const answer = answerIn(redirected, pending)
  // Whatever comes of it, a code is good for one try.
  await file.change((login) => ({ ...login, pending: undefined }))
  return explained(spec, async () => {
    const { client, discovery, scope } = pending
    const metadata = discovery.authorizationServerMetadata
    validateAuthorizationResponseIssuer({
      iss: answer.iss,
      expectedIssuer: metadata?.issuer,
      issParameterSupported: metadata?.authorization_response_iss_parameter_supported === true,
    })
    if (answer.code === undefined) throw new Error(`the authorization server answered ${codeText(answer.error ?? "")}`)
    const issuer = metadata?.issuer ?? discovery.authorizationServerUrl
    const given = { ...(await exchanged(spec, pending, answer.code, answer.iss)), issuer }
    const tokens = keptTokens(given, scope === undefined ? undefined : { ...given, scope }, Date.now())
    const kept = spec.auth?.clientId === undefined ? { client } : {}
    await file.change(() => ({ ...kept, discovery, tokens, issuer, asked: scope }))
    return signedIn(spec, file.read())
  })
}

function exchanged(spec: McpServerSpec, pending: PendingSignIn, code: string, iss: string | undefined) {
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

/** Signs in by the client's own secret. */
export async function signInAlone(spec: McpServerSpec, file: LoginFile): Promise<McpSignedIn> {
  return explained(spec, async () => {
    const fetchFn = authorizationFetch(new URL(spec.url!))
    return signedIn(spec, await file.change((login) => clientLogin(spec, login, fetchFn)))
  })
}

/** Asks the authorization server to forget what it gave, where it can. */
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
  const answers = kinds.map(async ([kind, token]) => {
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
  return (await Promise.allSettled(answers)).every((one) => one.status === "fulfilled" && one.value)
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

/** What an address says, if it is the one we wait for and says what only the one we asked can know. */
function answerIn(redirected: string, { redirectUrl, state }: PendingSignIn): RedirectAnswer {
  const expected = new URL(redirectUrl)
  const url = readUrl(redirected.trim())
  if (url === undefined || url.origin !== expected.origin || url.pathname !== expected.pathname) {
    throw new StrayAnswer(`That is not the address a browser comes back to, which begins with ${redirectUrl}?`)
  }
  const given = url.searchParams.get("state") ?? ""
  if (given.length !== state.length || !timingSafeEqual(Buffer.from(given), Buffer.from(state))) {
    throw new StrayAnswer(
      "That does not answer the sign-in that was begun here last. Open the address that was shown last.",
    )
  }
  const one = (name: string) => url.searchParams.get(name) ?? undefined
  return { code: one("error") === undefined ? one("code") : undefined, error: one("error"), iss: one("iss") }
}

async function explained<T>({ name }: McpServerSpec, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw new Error(`Signing in at ${name} failed: ${signInProblem(error)}.`, { cause: error })
  }
}
