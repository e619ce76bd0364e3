import type { CommandPart, Finding, Guard, Guards, NamedPathOptions } from "../core/guard.ts"
import type { Reason } from "../core/reason.ts"
import { isPath, type Touch } from "../core/touches.ts"

export interface GuardList {
  paths: Guard
  commands: Guard & {
    ready(): Promise<void> | undefined
    stem(line: string): string | undefined
    parts(touch: Touch): readonly CommandPart[]
    files(touch: Touch): readonly string[]
  }
  hosts: Guard
  /** Judges the paths in the input of a tool that does not say what it touches. */
  input(input: unknown, options: NamedPathOptions): readonly Finding[]
}

/**
 * Passes each kind of touch to its guard and combines the results. The extra touches of a command or a host replace it; the
 * real paths of links are added to the paths.
 */
export function combineGuards({ paths, commands, hosts, input }: GuardList): Guards {
  const ofKind: readonly [readonly Touch["kind"][], Guard][] = [
    [["read", "write"], paths],
    [["command"], commands],
    [["host"], hosts],
  ]
  return {
    commandStem: (line) => commands.stem(line),
    commandParts: (touch) => commands.parts(touch),
    commandFiles: (touch) => commands.files(touch),
    checkInput: (value, options) => input(value, options),
    ready: (touches) => (touches.some(({ kind }) => kind === "command") ? commands.ready() : undefined),
    check(touches, options) {
      // No guard looks at databases: they are named in the configuration.
      const list: Touch[] = [...ofKinds(touches, ["database"])]
      const findings: Finding[] = []
      const allowedBy: (Reason | undefined)[] = []
      let proved = true
      let certain = true
      let sandboxed = false
      for (const [kinds, guard] of ofKind) {
        const ofGuard = touches.length === 1 && kinds.includes(touches[0]!.kind) ? touches : ofKinds(touches, kinds)
        if (ofGuard.length === 0) continue
        const result = guard.check(ofGuard, options)
        if (guard === paths || result.extraTouches.length === 0) list.push(...ofGuard)
        list.push(...(guard === commands ? result.extraTouches.map(asDerived) : result.extraTouches))
        findings.push(...result.findings)
        allowedBy.push(result.allowedBy)
        proved &&= result.proved
        certain &&= result.proved || result.sandboxed === true
        sandboxed ||= result.sandboxed === true
      }
      const [first] = allowedBy
      if (first !== undefined && certain && !allowedBy.includes(undefined))
        findings.push({ verdict: "allow", reason: first, ...(sandboxed ? { sandboxed } : {}) })
      return { touches: { list, proved }, findings }
    },
  }
}

/** No guard: the tool's own touches count as they are, and only commands are unproved. */
export const unguarded: Guards = {
  commandStem: () => undefined,
  commandParts: () => [],
  commandFiles: () => [],
  checkInput: () => [],
  ready: () => undefined,
  check: (list) => ({
    touches: { list, proved: list.every(({ kind }) => kind !== "command") },
    findings: [],
  }),
}

/** A guard that says itself whether a touch is derived is believed. */
function asDerived(touch: Touch): Touch {
  return isPath(touch.kind) && touch.derived === undefined ? { ...touch, derived: true } : touch
}

function ofKinds(touches: readonly Touch[], kinds: readonly Touch["kind"][]): readonly Touch[] {
  return touches.filter(({ kind }) => kinds.includes(kind))
}
