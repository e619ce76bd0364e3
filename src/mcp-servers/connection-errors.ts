/** A failed request: how the call ends, and what that says about the connection. */
export class FailedRequest extends Error {
  override readonly name = "FailedRequest"
  readonly ending: Error
  /**
   * *alive*: the server answered with an error. *silent*: it did not answer yet. *broken*: the connection is unusable.
   * *forgotten*: the server no longer knows our session and ran nothing, so the request may be sent again in a new one.
   */
  readonly serverState: "alive" | "silent" | "broken" | "forgotten"

  constructor(ending: Error, serverState: FailedRequest["serverState"]) {
    super(ending.message, { cause: ending })
    this.ending = ending
    this.serverState = serverState
  }
}

/** Why a server could not be connected. The message is the end of a sentence. */
export class ConnectFailed extends Error {
  override readonly name = "ConnectFailed"
  readonly printed: string
  readonly exited: boolean
  /** Retrying is useless until a person signs in. */
  readonly needsSignIn: boolean

  constructor(why: string, details: { printed: string; exited: boolean; needsSignIn?: boolean; cause?: unknown }) {
    super(why, { cause: details.cause })
    this.printed = details.printed
    this.exited = details.exited
    this.needsSignIn = details.needsSignIn ?? false
  }
}

/** The sentence about a failed server, with the last lines of its error output. */
export function problemText(server: string, why: string, printed: string): string {
  return `The MCP server ${server} ${why}.${printed === "" ? "" : `\n${printed}`}`
}
