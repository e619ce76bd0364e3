import {
  computeScopeUnion,
  extractWWWAuthenticateParams,
  InsufficientScopeError,
  SdkHttpError,
  type AuthProvider,
  type FetchLike,
} from "@modelcontextprotocol/client"
import { readUrl } from "../../model/address.ts"
import type { McpServerSpec } from "../../model/mcp.ts"
import { authorizationFetch } from "./oauth-fetch.ts"
import { LoginFile, type Challenge, type Login } from "./oauth-file.ts"
import { clientLogin, refreshedLogin } from "./oauth-renew.ts"
import { signInProblem } from "./oauth-words.ts"

/** Why a server does not let us in, as the end of a sentence that says what a person does about it. */
export class NotSignedIn extends Error {
  override readonly name = "NotSignedIn"
}

/** A token that ends sooner is renewed before it is used. */
const soonMs = 20_000

/**
 * How a connection shows a server who we are. Tokens come from the private file, whoever wrote it last; they are renewed
 * here, and only a person signs in.
 */
export class Access {
  readonly file: LoginFile
  readonly provider: AuthProvider
  readonly #spec: McpServerSpec
  readonly #fetch: FetchLike
  readonly #refused = new WeakMap<object, string | undefined>()
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

  /** Remembers which token each refused request carried, and what the server would want instead. */
  watch(inner: FetchLike): FetchLike {
    return async (url, init) => {
      const response = await inner(url, init)
      if (response.status !== 401 && response.status !== 403) return response
      const shown = tokenOf(init?.headers)
      if (response.status === 401) this.#refused.set(response, shown)
      const challenge = extractWWWAuthenticateParams(response)
      if (response.status === 401 || challenge.error !== "insufficient_scope") return response
      await this.#note(challenge, true)
      if (!this.#isOwnClient || shown === undefined) return response
      await this.#renew(shown)
      const headers = new Headers(init?.headers)
      headers.set("authorization", `Bearer ${this.file.read().tokens?.access_token}`)
      await response.text().catch(() => {})
      return inner(url, { ...init, headers })
    }
  }

  /** What a failure says of signing in, as the end of a sentence; undefined when it is about something else. */
  problemIn(error: unknown): string | undefined {
    if (!(error instanceof Error)) return undefined
    if (error instanceof NotSignedIn) return error.message
    if (error instanceof InsufficientScopeError) {
      const scope = plainScope(error.requiredScope)
      return `wants more rights than it was given${scope === "" ? "" : ` (${scope})`}: ${this.#command}`
    }
    if (error instanceof SdkHttpError && error.data.status === 401) return this.#wanted
    return this.problemIn(error.cause)
  }

  get #isOwnClient(): boolean {
    return this.#spec.auth?.grant === "client_credentials"
  }

  get #command(): string {
    return this.#isOwnClient ? "look at its auth in the configuration" : `qm mcp login ${this.#spec.name}`
  }

  get #wanted(): string {
    return this.#isOwnClient
      ? "refuses the tokens its authorization server gave us: look at its auth in the configuration"
      : `wants you to sign in: ${this.#command}`
  }

  async #token(): Promise<string | undefined> {
    const { tokens } = this.file.read()
    if (tokens?.expiresAt === undefined || tokens.expiresAt > Date.now() + soonMs) return tokens?.access_token
    if (tokens.refresh_token === undefined && !this.#isOwnClient) return tokens.access_token
    // Where that fails the server is shown the old one, and says itself what it wants.
    await this.#renew(tokens.access_token).catch(() => {})
    return this.file.read().tokens?.access_token
  }

  async #answerRefusal(response: Response): Promise<void> {
    await this.#note(extractWWWAuthenticateParams(response), false)
    const shown = this.#refused.get(response)
    const now = this.file.read().tokens?.access_token
    if (now !== undefined && now !== shown) return
    await this.#renew(shown)
  }

  /** One renewal at a time here, and by the file's lock one among all processes: whoever is second finds it done. */
  #renew(shown: string | undefined): Promise<void> {
    this.#renewing ??= this.#renewOnce(shown).finally(() => (this.#renewing = undefined))
    return this.#renewing
  }

  async #renewOnce(shown: string | undefined): Promise<void> {
    const { tokens } = this.file.read()
    if (tokens === undefined && !this.#isOwnClient) throw new NotSignedIn(this.#wanted)
    const kept = await this.file.change(async (login) => {
      const now = login.tokens?.access_token
      if (now !== undefined && now !== shown) return undefined
      return (await this.#renewed(login)) ?? { ...login, tokens: undefined }
    })
    if (kept.tokens === undefined) throw new NotSignedIn(this.#wanted)
  }

  async #renewed(login: Login): Promise<Login | undefined> {
    if (!this.#isOwnClient) return refreshedLogin(this.#spec, login, this.#fetch)
    try {
      return await clientLogin(this.#spec, login, this.#fetch)
    } catch (error) {
      throw new NotSignedIn(`did not let us sign in: ${signInProblem(error)}`, { cause: error })
    }
  }

  /** What the server wants is kept for the next sign-in, which may happen in another process. */
  async #note({ scope, resourceMetadataUrl }: ReturnType<typeof extractWWWAuthenticateParams>, more: boolean) {
    const before = this.file.read()
    const had = more || before.tokens !== undefined ? (before.tokens?.scope ?? before.asked) : undefined
    const wanted: Challenge = {
      scope: computeScopeUnion(more ? computeScopeUnion(had, before.wanted?.scope) : had, scope),
      resourceMetadataUrl: resourceMetadataUrl?.href ?? before.wanted?.resourceMetadataUrl,
    }
    const { wanted: known } = before
    if (known?.scope === wanted.scope && known?.resourceMetadataUrl === wanted.resourceMetadataUrl) return
    await this.file.change((login) => ({ ...login, wanted })).catch(() => {})
  }
}

/** The way to sign in at a server; undefined where its headers in the configuration say already who we are. */
export function accessTo(spec: McpServerSpec, folder: string | undefined): Access | undefined {
  if (folder === undefined || spec.url === undefined || readUrl(spec.url) === undefined) return undefined
  const headers = Object.keys(spec.headers ?? {}).map((name) => name.toLowerCase())
  return headers.includes("authorization") ? undefined : new Access(spec, folder)
}

function tokenOf(headers: ConstructorParameters<typeof Headers>[0]): string | undefined {
  return new Headers(headers).get("authorization")?.replace(/^Bearer /, "")
}

/** A scope as a server wrote it, for a sentence. */
function plainScope(scope: string | undefined): string {
  return (scope ?? "").replaceAll(/[^\x21\x23-\x5b\x5d-\x7e ]/g, "").slice(0, 200)
}
