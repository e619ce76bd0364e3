import { CLIENT_CAPABILITIES_META_KEY, type ClientCapabilities, type ServerContext } from "@modelcontextprotocol/server"
import type { Caller } from "../../model/call.ts"

/** What a client can be asked. */
export interface Can {
  readonly form: boolean
  readonly url: boolean
  readonly sampling: boolean
  readonly roots: boolean
}

/** Nothing at all. */
export const cannot: Can = { form: false, url: false, sampling: false, roots: false }

/** What other servers are told for a client: a person can always be asked, at whichever door. */
export function ableOf({ sampling, roots }: Can): NonNullable<Caller["able"]> {
  return { elicitation: true, sampling, roots }
}

/** As the client declared it, with its request or when it opened the session. */
export function capabilitiesOf(
  era: "legacy" | "modern",
  context: ServerContext,
  session: ClientCapabilities | undefined,
): Can {
  const envelope = context.mcpReq.envelope as Record<string, unknown> | undefined
  const declared = era === "modern" ? (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities) : session
  return readCapabilities(declared)
}

export function readCapabilities(declared: ClientCapabilities | undefined): Can {
  const { elicitation, sampling, roots } = declared ?? {}
  return {
    // Before there were two kinds, there was only the form.
    form: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    url: elicitation?.url !== undefined,
    sampling: sampling !== undefined,
    roots: roots !== undefined,
  }
}
