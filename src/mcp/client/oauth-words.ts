import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client"
import { messageOf } from "../../model/message.ts"

/** Why signing in failed, without a full stop. What an authorization server wrote is not repeated, only its code. */
export function signInProblem(error: unknown): string {
  if (error instanceof IssuerMismatchError) {
    return error.kind === "metadata"
      ? "the authorization server says it is another one than the server named"
      : "the answer came from another authorization server than the one that was asked"
  }
  if (error instanceof AuthorizationServerMismatchError) {
    return "the server names another authorization server than the one our client belongs to; if that is right, sign out first"
  }
  if (error instanceof RegistrationRejectedError) {
    return `the authorization server does not register us (HTTP ${error.status}); set auth.clientId in the configuration to a client that you registered there`
  }
  if (error instanceof InsecureTokenEndpointError) return "the authorization server takes tokens without encryption"
  if (error instanceof OAuthError) return `the authorization server answered ${codeText(error.code)}`
  const text = messageOf(error).replaceAll(/\s+/g, " ").trim()
  if (text.includes("does not support dynamic client registration")) {
    return "the authorization server registers nobody by itself; set auth.clientId in the configuration to a client that you registered there"
  }
  return text.slice(0, 300).replace(/\.$/, "")
}

/** An error code of the protocol, which has few characters; anything else is not repeated. */
export function codeText(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "an error"
}
