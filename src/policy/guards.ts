import type { Finding, Guard, Guards } from "../model/guard.ts"
import type { Reason } from "../model/record.ts"
import type { Touch } from "../model/rule.ts"

export interface GuardList {
  paths: Guard
  commands: Guard & { ready(): Promise<void> | undefined }
  hosts: Guard
}

/**
 * Each kind of touch to its guard, and what they found put together. Where a guard names what a command or an address
 * comes to, that stands in place of it; the real places of paths stand beside them.
 */
export function guardsOf({ paths, commands, hosts }: GuardList): Guards {
  const ofKind: readonly [readonly Touch["kind"][], Guard][] = [
    [["read", "write"], paths],
    [["command"], commands],
    [["host"], hosts],
  ]
  return {
    ready: (touches) => (touches.some(({ kind }) => kind === "command") ? commands.ready() : undefined),
    look(touches, options) {
      const list: Touch[] = []
      const findings: Finding[] = []
      const covers: (Reason | undefined)[] = []
      let proved = true
      for (const [kinds, guard] of ofKind) {
        const theirs = touches.length === 1 && kinds.includes(touches[0]!.kind) ? touches : ofKinds(touches, kinds)
        if (theirs.length === 0) continue
        const looked = guard.look(theirs, options)
        if (guard === paths || looked.more.length === 0) list.push(...theirs)
        list.push(...(guard === commands ? looked.more.map(derivedFrom) : looked.more))
        findings.push(...looked.findings)
        covers.push(looked.covers)
        proved &&= looked.proved
      }
      const [first] = covers
      if (first !== undefined && proved && !covers.includes(undefined)) findings.push({ says: "allow", reason: first })
      return { touches: { list, proved }, findings }
    },
  }
}

/** No guard: what a tool says is what it touches, and only a command is not proved. */
export const unguarded: Guards = {
  ready: () => undefined,
  look: (list) => ({
    touches: { list, proved: list.every(({ kind }) => kind !== "command") },
    findings: [],
  }),
}

function derivedFrom(touch: Touch): Touch {
  return touch.kind === "read" || touch.kind === "write" ? { ...touch, derived: true } : touch
}

function ofKinds(touches: readonly Touch[], kinds: readonly Touch["kind"][]): readonly Touch[] {
  return touches.filter(({ kind }) => kinds.includes(kind))
}
