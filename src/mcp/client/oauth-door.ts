import type { McpServers, McpServerSpec, McpServerState, McpSignedIn } from "../../model/mcp.ts"
import type { Documents } from "../../model/documents.ts"
import type { Connection } from "./connection.ts"
import type { Access } from "./oauth.ts"
import { beginSignIn, finishSignIn, revokeLogin, signInAlone, usualPort } from "./oauth-login.ts"

/** Signing in at one server and out again, for people. Who did so is noted in the record; what they got is not. */
export interface SignInDoor {
  signedIn(): Pick<McpServerState, "signedInBy">
  signIn(...given: WithoutServer<McpServers["signIn"]>): ReturnType<McpServers["signIn"]>
  finishSignIn(...given: WithoutServer<McpServers["finishSignIn"]>): ReturnType<McpServers["finishSignIn"]>
  signOut(...given: WithoutServer<McpServers["signOut"]>): ReturnType<McpServers["signOut"]>
}
type WithoutServer<Method> = Method extends (server: string, ...rest: infer Rest) => unknown ? Rest : never

export function signInDoor(
  spec: McpServerSpec,
  access: Access | undefined,
  connection: Connection,
  documents: Documents,
  /** Resolves when the server was tried, and what it offers is known if it let us in. */
  meet: () => Promise<void>,
): SignInDoor {
  const { name } = spec
  const note = async (by: string, signedIn: McpSignedIn): Promise<McpSignedIn> => {
    const { scopes, issuer } = signedIn
    await documents.put({ kind: "login", id: name, body: { address: plainAddress(spec.url!), issuer, scopes } }, by)
    await meet()
    return signedIn
  }
  const file = () => {
    if (access !== undefined) return access.file
    const why = spec.url === undefined ? "is a program of this machine" : "has an Authorization header in its headers"
    throw new Error(`Nobody signs in at the MCP server ${name}, because it ${why}.`)
  }
  return {
    signedIn() {
      const known = documents.get("login", name)
      return known?.live === true ? { signedInBy: known.changedBy } : {}
    },
    async signIn(by, redirectTo) {
      const login = file()
      // Asked without a token, or with an old one, it says what it wants.
      await meet()
      if (spec.auth?.grant === "client_credentials") return note(by, await signInAlone(spec, login))
      const { tokens, wanted } = login.read()
      if (connection.state.state === "connected" && tokens === undefined && wanted === undefined) {
        throw new Error(`The MCP server ${name} is connected and does not ask anybody to sign in.`)
      }
      const redirectUrl = await redirectTo(usualPort(spec, login.read()))
      const fixed = spec.auth?.redirectPort
      if (fixed !== undefined && new URL(redirectUrl).port !== String(fixed)) {
        throw new Error(
          `Port ${fixed}, to which a browser must come back, is taken. End what listens there, and try again.`,
        )
      }
      return beginSignIn(spec, login, redirectUrl)
    },
    async finishSignIn(by, redirected) {
      return note(by, await finishSignIn(spec, file(), redirected))
    },
    async signOut(by) {
      const login = file()
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

/** Without what might be secret in it. */
function plainAddress(url: string): string {
  const { origin, pathname } = new URL(url)
  return origin + pathname
}
