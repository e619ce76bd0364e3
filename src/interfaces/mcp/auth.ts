import type { AuthInfo } from "@modelcontextprotocol/server"
import type { ClientIdentity } from "./client-identity.ts"

/** Carries the identity of a client through the SDK, without its token. */
export function toAuthInfo(identity: ClientIdentity): AuthInfo {
  return { token: "", clientId: identity.tokenId ?? identity.agentId, scopes: [], extra: { identity } }
}

export function identityFromAuth(auth: AuthInfo | undefined): ClientIdentity {
  const identity = auth?.extra?.["identity"]
  if (identity === undefined) throw new Error("A request reached the SDK's handler without its client's identity.")
  return identity as ClientIdentity
}
