import {
  computeScopeUnion,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  SdkHttpError,
  type AuthProvider,
  type FetchLike,
} from "@modelcontextprotocol/client"
import { parseUrl } from "../lib/url.ts"
import type { McpServerSpec } from "../core/mcp.ts"
import { authorizationFetch } from "./oauth-fetch.ts"
import { LoginFile, type Challenge, type Login } from "./oauth-file.ts"
import { clientLogin, refreshedLogin } from "./oauth-renew.ts"
import { signInProblem } from "./oauth-messages.ts"

/** Why a server refuses us. The message is the end of a sentence that says what a person can do. */
export class NotSignedIn extends Error {
  override readonly name = "NotSignedIn"
}

/** A token that expires sooner is renewed before it is used. */
const renewBeforeMs = 20_000

/**
 * Authenticates a connection with OAuth. Tokens come from the login file, which any process may have written. They are
 * renewed here; signing in is done by a person.
 */
export class OAuthAccess {
  readonly file: LoginFile
  readonly provider: AuthProvider
  readonly #spec: McpServerSpec
  readonly #fetch: FetchLike
  readonly #refusedTokens = new WeakMap<object, string | undefined>()
  #renewing: Promise<void> | undefined

  constructor(spec: McpServerSpec, folder: string) {
    this.#spec = spec
    this.file = new LoginFile(folder, spec.name, spec.url!)
    this.#fetch = authorizationFetch(new URL(spec.url!))
    this.provider = {
      token: () => this.#token(),
      onUnauthorized: ({ response }) => this.#answerRefusal(response),
    }
  }

  /** Remembers which token each refused request used, and what the server requires instead. */
  wrapFetch(inner: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await inner(url, init)
      if (response.status !== 401 && response.status !== 403) return response
      const usedToken = tokenOf(init?.headers)
      if (response.status === 401) this.#refusedTokens.set(response, usedToken)
      const challenge = extractWWWAuthenticateParams(response)
      if (response.status === 401 || challenge.error !== "insufficient_scope") return response
      await this.#saveChallenge(challenge, true)
      if (!this.#isOwnClient || usedToken === undefined) return response
      await this.#renew(usedToken)
      const headers = new Headers(init?.headers)
      headers.set("authorization", `Bearer ${this.file.read().tokens?.access_token}`)
      await response.text().catch(() => {})
      return inner(url, { ...init, headers })
    }
  }

  /** Returns an error's message about signing in, as the end of a sentence; undefined for other errors. */
  problemIn(error: unknown): string | undefined {
    if (!(error instanceof Error)) return undefined
    if (error instanceof NotSignedIn) return error.message
    if (error instanceof InsufficientScopeError) {
      const scope = plainScope(error.requiredScope)
      return `wants more rights than it was given${scope === "" ? "" : ` (${scope})`}: ${this.#command}`
    }
    if (error instanceof SdkHttpError && error.data.status === 401) return this.#signInSentence
    return this.problemIn(error.cause)
  }

  get #isOwnClient(): boolean {
    return this.#spec.auth?.grant === "client_credentials"
  }

  get #command(): string {
    return this.#isOwnClient ? "check its auth in the configuration" : `qm mcp login ${this.#spec.name}`
  }

  get #signInSentence(): string {
    return this.#isOwnClient
      ? "refuses the tokens its authorization server gave us: check its auth in the configuration"
      : `wants you to sign in: ${this.#command}`
  }

  async #token(): Promise<string | undefined> {
    const { tokens } = this.file.read()
    if (tokens?.expiresAt === undefined || tokens.expiresAt > Date.now() + renewBeforeMs) return tokens?.access_token
    if (tokens.refresh_token === undefined && !this.#isOwnClient) return tokens.access_token
    // If that fails, the old token is sent, and the server answers what it requires.
    await this.#renew(tokens.access_token).catch(() => {})
    return this.file.read().tokens?.access_token
  }

  async #answerRefusal(response: Response): Promise<void> {
    await this.#saveChallenge(extractWWWAuthenticateParams(response), false)
    const usedToken = this.#refusedTokens.get(response)
    const now = this.file.read().tokens?.access_token
    if (now !== undefined && now !== usedToken) return
    await this.#renew(usedToken)
  }

  /** One renewal at a time in this process, and by the file's lock in all processes: a second one finds new tokens. */
  #renew(usedToken: string | undefined): Promise<void> {
    this.#renewing ??= this.#renewOnce(usedToken).finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  async #renewOnce(usedToken: string | undefined): Promise<void> {
    const { tokens } = this.file.read()
    if (tokens === undefined && !this.#isOwnClient) throw new NotSignedIn(this.#signInSentence)
    const login = await this.file.change(async (login) => {
      const now = login.tokens?.access_token
      if (now !== undefined && now !== usedToken) return undefined
      return (await this.#renewed(login)) ?? { ...login, tokens: undefined }
    })
    if (login.tokens === undefined) throw new NotSignedIn(this.#signInSentence)
  }

  async #renewed(login: Login): Promise<Login | undefined> {
    if (!this.#isOwnClient) return refreshedLogin(this.#spec, login, this.#fetch)
    try {
      return await clientLogin(this.#spec, login, this.#fetch)
    } catch (error) {
      throw new NotSignedIn(`did not let us sign in: ${signInProblem(error)}`, { cause: error })
    }
  }

  /** Stores what the server requires for the next sign-in, which may happen in another process. */
  async #saveChallenge({ scope, resourceMetadataUrl }: ReturnType<typeof extractWWWAuthenticateParams>, adds: boolean) {
    const before = this.file.read()
    const currentScope = adds || before.tokens !== undefined ? (before.tokens?.scope ?? before.asked) : undefined
    const wanted: Challenge = {
      scope: computeScopeUnion(adds ? computeScopeUnion(currentScope, before.wanted?.scope) : currentScope, scope),
      resourceMetadataUrl: resourceMetadataUrl?.href ?? before.wanted?.resourceMetadataUrl,
    }
    const { wanted: known } = before
    if (known?.scope === wanted.scope && known?.resourceMetadataUrl === wanted.resourceMetadataUrl) return
    await this.file.change((login) => ({ ...login, wanted })).catch(() => {})
  }
}

/** OAuth access to a server; undefined if it has no URL or its configured headers authenticate us already. */
export function createOAuthAccess(spec: McpServerSpec, folder: string | undefined): OAuthAccess | undefined {
  if (folder === undefined || spec.url === undefined || parseUrl(spec.url) === undefined) return undefined
  const headers = Object.keys(spec.headers ?? {}).map((name) => name.toLowerCase())
  return headers.includes("authorization") ? undefined : new OAuthAccess(spec, folder)
}

function tokenOf(headers: ConstructorParameters<typeof Headers>[0]): string | undefined {
  return new Headers(headers).get("authorization")?.replace(/^Bearer /, "")
}

/** A server's scope without characters that scopes cannot have, for a sentence. */
function plainScope(scope: string | undefined): string {
  return (scope ?? "").replaceAll(/[^\x21\x23-\x5b\x5d-\x7e ]/g, "").slice(0, 200)
}
