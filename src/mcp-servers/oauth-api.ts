import type { McpServers, McpServerSpec, McpServerState, McpSignedIn } from "../core/mcp.ts"
import type { Documents } from "../core/documents.ts"
import type { Connection } from "./connection.ts"
import type { OAuthAccess } from "./oauth.ts"

/** Lets people sign in to a server and out. The audit log records who did, never the tokens. */
export interface SignInApi {
  signedIn(): Pick<McpServerState, "signedInBy">
  signIn(...args: WithoutServer<McpServers["signIn"]>): ReturnType<McpServers["signIn"]>
  finishSignIn(...args: WithoutServer<McpServers["finishSignIn"]>): ReturnType<McpServers["finishSignIn"]>
  signOut(...args: WithoutServer<McpServers["signOut"]>): ReturnType<McpServers["signOut"]>
}
type WithoutServer<Method> = Method extends (server: string, ...rest: infer Rest) => unknown ? Rest : never

export function signInApi(
  spec: McpServerSpec,
  access: OAuthAccess | undefined,
  connection: Connection,
  documents: Documents,
  /** Tries to connect. Resolves also when that failed. */
  tryConnect: () => Promise<void>,
): SignInApi {
  const { name } = spec
  const note = async (by: string, signedIn: McpSignedIn): Promise<McpSignedIn> => {
    const { scopes, issuer } = signedIn
    await documents.put({ kind: "login", id: name, body: { address: plainAddress(spec.url!), issuer, scopes } }, by)
    await tryConnect()
    return signedIn
  }
  const file = () => {
    if (access !== undefined) return access.file
    const why = spec.url === undefined ? "is a program on this machine" : "has an Authorization header in its headers"
    throw new Error(`Signing in to the MCP server ${name} is not possible, because it ${why}.`)
  }
  return {
    signedIn() {
      const known = documents.get("login", name)
      return known?.live === true ? { signedInBy: known.changedBy } : {}
    },
    async signIn(by, redirectTo) {
      const login = file()
      const { beginSignIn, preferredPort, signInWithClientSecret } = await import("./oauth-login.ts")
      // Without a valid token, the server answers with what it requires.
      await tryConnect()
      if (spec.auth?.grant === "client_credentials") return note(by, await signInWithClientSecret(spec, login))
      const { tokens, wanted } = login.read()
      if (connection.state.state === "connected" && tokens === undefined && wanted === undefined) {
        throw new Error(`The MCP server ${name} is connected and does not require signing in.`)
      }
      const redirectUrl = await redirectTo(preferredPort(spec, login.read()))
      const fixed = spec.auth?.redirectPort
      if (fixed !== undefined && new URL(redirectUrl).port !== String(fixed)) {
        throw new Error(
          `Port ${fixed}, to which the browser must return, is in use. End the program that uses it and try again.`,
        )
      }
      return beginSignIn(spec, login, redirectUrl)
    },
    async finishSignIn(by, redirected) {
      const login = file()
      const { finishSignIn } = await import("./oauth-login.ts")
      return note(by, await finishSignIn(spec, login, redirected))
    },
    async signOut(by) {
      const login = file()
      const { revokeLogin } = await import("./oauth-login.ts")
      const before = login.read()
      const known = documents.get("login", name)
      await login.remove()
      if (before.tokens === undefined && known?.live !== true) return undefined
      const revoked = await revokeLogin(spec, before)
      await documents.put({ kind: "login", id: name, live: false, body: { ...(known?.body as object), revoked } }, by)
      return { revoked }
    },
  }
}

/** The URL without its query and credentials, which may be secret. */
function plainAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
