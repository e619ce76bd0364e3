import type { ReasonParams, Sentence } from "../../../core/reason.ts"
import type { Message } from "./schemas.ts"

/** A stored sentence as the API has it. */
export function messageOf({ code, params, text }: Sentence): Message {
  return params === undefined ? { code, text } : { code, params: copied(params), text }
}

export function copied(params: ReasonParams | undefined): Message["params"] {
  return params && (Object.fromEntries(Object.entries(params)) as Message["params"])
}
