import type { StreamEvent } from "./stream.ts"

/** The first words of the keys under which queries are stored. */
export type Topic =
  | "me"
  | "approvals"
  | "refused"
  | "suggestions"
  | "digest"
  | "people"
  | "tokens"
  | "calls"
  | "audit"
  | "tools"
  | "chats"
  | "chat"

const everything: readonly Topic[] = [
  "me",
  "approvals",
  "refused",
  "suggestions",
  "digest",
  "people",
  "tokens",
  "calls",
  "audit",
  "tools",
  "chats",
  "chat",
]

/** What an event makes old. Events are hints: the queries say what is true. */
export function topicsOf({ name, data }: StreamEvent): readonly Topic[] {
  switch (name) {
    case "call":
      return ["approvals", "me", "refused", "calls", "chat"]
    case "document":
      if (data["kind"] === "freeze" || data["kind"] === "mode") return ["me", "approvals", "chat"]
      if (data["kind"] === "rule") return ["suggestions", "approvals", "tools"]
      return ["me", "approvals", "people", "tokens", "tools"]
    case "audit":
      return ["audit", "calls", "refused"]
    case "resync":
      return everything
    case "turn":
    case "conversation":
      return ["chats", "chat"]
    case "message":
    case "answer":
    case "output":
      return []
  }
}
