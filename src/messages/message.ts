import type { ReasonParams, Sentence } from "../core/reason.ts"
import { z } from "zod"

/** A stored sentence as the API has it. */
export function messageOf({ code, params, text }: Sentence): Message {
  return params === undefined ? { code, text } : { code, params: copied(params), text }
}

export function copied(params: ReasonParams | undefined): Message["params"] {
  return params && (Object.fromEntries(Object.entries(params)) as Message["params"])
}

const values = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string())]))

/** A sentence for people: a code and its values for translation, and the English text. */
export const message = z
  .object({
    code: z.string(),
    params: values.optional(),
    text: z.string(),
  })
  .meta({ id: "Message" })

export type Message = z.infer<typeof message>
