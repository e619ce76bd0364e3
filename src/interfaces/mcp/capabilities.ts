import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type ServerContext,
} from "@modelcontextprotocol/server"
import type { Caller } from "../../core/call.ts"

/** The capabilities of a client that a call may need. */
export interface ClientAbilities {
  readonly form: boolean
  readonly url: boolean
  readonly sampling: boolean
  readonly roots: boolean
}

export const noAbilities: ClientAbilities = { form: false, url: false, sampling: false, roots: false }

/** The abilities we report to other servers on behalf of a client. A person can always be asked, by any interface. */
export function toCallerAble({ sampling, roots }: ClientAbilities): NonNullable<Caller["able"]> {
  return { elicitation: true, sampling, roots }
}

/** Reads the capabilities that the client declared, with this request or when it opened the session. */
export function capabilitiesOf(
  era: "legacy" | "modern",
  context: ServerContext,
  session: ClientCapabilities | undefined,
): ClientAbilities {
  const envelope = context.mcpReq.envelope as Record<string, unknown> | undefined
  const declared = era === "modern" ? (envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities) : session
  return readCapabilities(declared)
}

/** Reads the name and version that the client gave, with this request or when it opened the session. */
export function clientInfoOf(era: "legacy" | "modern", context: ServerContext, session: unknown): unknown {
  const envelope = context.mcpReq.envelope as Record<string, unknown> | undefined
  return era === "modern" ? envelope?.[CLIENT_INFO_META_KEY] : session
}

export function readCapabilities(declared: ClientCapabilities | undefined): ClientAbilities {
  const { elicitation, sampling, roots } = declared ?? {}
  return {
    // Older clients declare elicitation without a kind and mean forms.
    form: elicitation !== undefined && (elicitation.form !== undefined || elicitation.url === undefined),
    url: elicitation?.url !== undefined,
    sampling: sampling !== undefined,
    roots: roots !== undefined,
  }
}
