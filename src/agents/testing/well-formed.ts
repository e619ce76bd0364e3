import { expect } from "vitest"
import type { ModelMessage } from "../models/port.ts"

/** Fails unless every call is answered by the message right after it, as providers demand. */
export function expectWellFormed(messages: readonly ModelMessage[]): void {
  for (const [place, message] of messages.entries()) {
    if (message.role === "user" || message.role === "system") continue
    const before = message.role === "tool" ? messages[place - 1] : message
    const after = message.role === "tool" ? message : messages[place + 1]
    const calls =
      before?.role === "assistant" ? before.content.flatMap((part) => (part.type === "tool-call" ? [part.id] : [])) : []
    expect(after?.role === "tool" ? after.content.map(({ id }) => id) : []).toEqual(calls)
  }
}
