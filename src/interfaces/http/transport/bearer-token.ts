import type { Quartermaster } from "../../../app/quartermaster.ts"
import type { AgentToken } from "../../../org/token-admin.ts"
import { unknownToken } from "../routes/caller.ts"

/** The owner of a request's token, or why the request is refused. */
export type TokenCheck = { holder: AgentToken } | { holder?: undefined; sentence: string; challenge: string }

/** Checks the Authorization header. A token is valid only for the agent it was created for. */
export function checkBearerToken(app: Pick<Quartermaster, "tokens">, header: string | undefined): TokenCheck {
  if (header === undefined) return missing
  const space = header.indexOf(" ")
  if (header.slice(0, space).toLowerCase() !== "bearer") return missing
  const token = header.slice(space + 1).trim()
  const holder = token === "" ? undefined : app.tokens.holder(token)
  return holder === undefined ? unknownToken : { holder }
}

const missing: TokenCheck = {
  sentence: "Send 'Authorization: Bearer <token>'. Create a token with: qm tokens create --agent <agent>",
  challenge: 'Bearer realm="quartermaster"',
}
