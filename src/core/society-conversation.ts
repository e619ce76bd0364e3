import { createHash } from "node:crypto"

/** The ids of conversations that the society runs begin like this. */
export const societyPrefix = "society-"

/** The conversation in which an agent works on a task. Every process finds the same one. */
export function societyConversation(agentId: string, taskId: string | undefined): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([agentId, taskId ?? ""]))
    .digest("hex")
  return `${societyPrefix}${digest.slice(0, 24)}`
}

export function isSocietyConversation(id: string): boolean {
  return id.startsWith(societyPrefix)
}

/** Reports whether the society goes on with a conversation by itself: with its own, and with others that say so. */
export function resumesAutomatically({ id, settings }: { id: string; settings: unknown }): boolean {
  return isSocietyConversation(id) || (Object(settings) as { wakes?: boolean }).wakes === true
}
