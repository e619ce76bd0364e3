import type { App } from "../model/app.ts"
import type { AgentToken } from "../model/token-book.ts"

/** Who a request speaks for, or why it speaks for nobody. */
export type Shown = { holder: AgentToken } | { holder?: undefined; sentence: string; challenge: string }

/** Looks at the Authorization header. A token counts for the agent it was made for and nobody else. */
export function showToken(app: Pick<App, "tokens">, header: string | undefined): Shown {
  if (header === undefined) return missing
  const space = header.indexOf(" ")
  if (header.slice(0, space).toLowerCase() !== "bearer") return missing
  const token = header.slice(space + 1).trim()
  const holder = token === "" ? undefined : app.tokens.holder(token)
  return holder === undefined ? unknown : { holder }
}

const missing: Shown = {
  sentence: "Send 'Authorization: Bearer <token>'. A token is made with: qm tokens create --agent <agent>",
  challenge: 'Bearer realm="quartermaster"',
}

const unknown: Shown = {
  sentence:
    "The token is unknown, expired or revoked, or its agent was ended. Make a new one with: qm tokens create --agent <agent>",
  challenge: 'Bearer realm="quartermaster", error="invalid_token"',
}
