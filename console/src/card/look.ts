import type { Card } from "../../../src/approvals/card/schema.ts"
import type { Message } from "../../../src/messages/message.ts"
import type { IconName } from "../ui/icon-paths.ts"

const byEffect: Readonly<Record<string, IconName>> = {
  execute: "terminal-2",
  write: "pencil",
  network: "world",
  communicate: "message",
  read: "file-text",
}

export function iconOf({ kind, effect }: Card): IconName {
  if (kind === "question") return "help-circle"
  if (kind === "result") return "eye-pause"
  return byEffect[effect ?? ""] ?? "tool"
}

/** Colour only carries a verdict: rust for what deletes, amber for what leaves or is new. */
export function tagClass({ code }: Message): string {
  if (code.includes("held")) return "tag tag-held"
  if (/delet|destroy|destruct/.test(code)) return "tag tag-deny"
  if (/network|send|host|unproved|out/.test(code)) return "tag tag-ask"
  return "tag"
}

/** "dev › release-1": the nearest parent is enough in a list. */
export function shortPath({ agent }: Card): string {
  const parent = agent.ancestors[0]
  return parent === undefined || agent.ancestors.length < 2 ? agent.id : `${parent} › ${agent.id}`
}
