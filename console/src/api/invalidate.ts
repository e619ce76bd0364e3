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
  | "org"
  | "rules"
  | "activity"

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
  "org",
  "rules",
  "activity",
]

/** Returns the topics that an event makes old. Events are hints: the queries give the truth. */
export function topicsOf({ name, data }: StreamEvent): readonly Topic[] {
  switch (name) {
    case "call":
      return ["approvals", "me", "refused", "calls", "chats", "chat", "org", "activity"]
    case "document":
      if (data["kind"] === "freeze" || data["kind"] === "mode") return ["me", "approvals", "chat", "org"]
      if (data["kind"] === "rule") return ["suggestions", "approvals", "tools", "rules"]
      return ["me", "approvals", "people", "tokens", "tools", "chat", "org", "rules"]
    case "audit":
      return ["audit", "calls", "refused", "org", "activity", "rules"]
    case "resync":
      return everything
    case "turn":
    case "conversation":
      return ["chats", "chat", "org"]
    case "message":
      return ["org"]
    case "answer":
    case "output":
      return []
  }
}
