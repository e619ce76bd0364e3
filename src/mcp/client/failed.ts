/** What a failed request says of the connection, besides how the call ends. */
export class FailedRequest extends Error {
  override readonly name = "FailedRequest"
  readonly ending: Error
  /**
   * *alive*: the server answered, only not as one would like. *silent*: it did not, and may yet. *broken*: there is no
   * use in this connection any more. *forgotten*: the server does not know us any more and has done nothing, so the
   * same may be asked again after a new greeting.
   */
  readonly server: "alive" | "silent" | "broken" | "forgotten"

  constructor(ending: Error, server: FailedRequest["server"]) {
    super(ending.message, { cause: ending })
    this.ending = ending
    this.server = server
  }
}

/** Why a server was not connected, as the end of a sentence, and what it said before it died. */
export class NotOpened extends Error {
  override readonly name = "NotOpened"
  readonly said: string
  readonly died: boolean
  /** Nothing changes until somebody signs in. */
  readonly refused: boolean

  constructor(why: string, given: { said: string; died: boolean; refused?: boolean; cause?: unknown }) {
    super(why, { cause: given.cause })
    this.said = given.said
    this.died = given.died
    this.refused = given.refused ?? false
  }
}

/** What people are told of a server: how it ended, and what it said before. */
export function problemText(server: string, why: string, said: string): string {
  return `The MCP server ${server} ${why}.${said === "" ? "" : `\nIt said last:\n${said}`}`
}
