import {
  AuthorizationServerMismatchError,
  InsecureTokenEndpointError,
  IssuerMismatchError,
  OAuthError,
  RegistrationRejectedError,
} from "@modelcontextprotocol/client"
import { errorMessage } from "../lib/error-message.ts"

/** Why signing in failed, without a full stop. Of an authorization server's error only the code is repeated. */
export function signInProblem(error: unknown): string {
  if (error instanceof IssuerMismatchError) {
    return error.kind === "metadata"
      ? "the authorization server identifies itself as another one than the server named"
      : "the response came from another authorization server than the one we asked"
  }
  if (error instanceof AuthorizationServerMismatchError) {
    return "the server names another authorization server than the one our client belongs to; if that is right, sign out first"
  }
  if (error instanceof RegistrationRejectedError) {
    return `the authorization server does not register us (HTTP ${error.status}); set auth.clientId in the configuration to a client that you registered there`
  }
  if (error instanceof InsecureTokenEndpointError) return "the authorization server takes tokens without encryption"
  if (error instanceof OAuthError) return `the authorization server answered ${safeErrorCode(error.code)}`
  const text = errorMessage(error).replaceAll(/\s+/g, " ").trim()
  if (text.includes("does not support dynamic client registration")) {
    return "the authorization server does not register clients automatically; set auth.clientId in the configuration to a client that you registered there"
  }
  return text.slice(0, 300).replace(/\.$/, "")
}

/** The code if it looks like an OAuth error code; anything else is not repeated. */
export function safeErrorCode(code: string): string {
  return /^[a-z_]{1,40}$/.test(code) ? code : "an error"
}
