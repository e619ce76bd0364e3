import type { Guards, Looked, LookOptions } from "../model/guard.ts"
import type { Touch } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"

const nothing: Looked = { touches: { list: [], proved: true }, findings: [] }
const unknown: Looked = { touches: { list: [], proved: false }, findings: [] }

/** What the tool says it will touch, as the guards see it. Nothing is proved that a tool fails to say. */
export function lookAt(tool: RegisteredTool, input: unknown, guards: Guards, options: LookOptions): Looked {
  const list = saidBy(tool, input)
  if (list === undefined) return unknown
  return list.length === 0 ? nothing : guards.look(list, options)
}

/** What the guards must load before they can look at this call; undefined when nothing must be. */
export function guardsReady(tool: RegisteredTool, input: unknown, guards: Guards): Promise<void> | undefined {
  const list = saidBy(tool, input)
  return list === undefined || list.length === 0 ? undefined : guards.ready(list)
}

function saidBy(tool: RegisteredTool, input: unknown): readonly Touch[] | undefined {
  if (tool.touches === undefined) return none
  try {
    const list = tool.touches(input)
    return Array.isArray(list) && list.every(isTouch) ? list : undefined
  } catch {
    return undefined
  }
}

const none: readonly Touch[] = []

function isTouch({ kind, what }: Touch): boolean {
  return touchKinds.includes(kind) && typeof what === "string"
}

const touchKinds: readonly Touch["kind"][] = ["read", "write", "command", "host"]
