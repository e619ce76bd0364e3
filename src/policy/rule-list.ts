import { pointedAt } from "../model/pointer.ts"
import type { Touch } from "../model/rule.ts"
import { holds, type CallFacts, type CompiledRule } from "./conditions.ts"
import { placesOf } from "./places.ts"
import { TextIndex } from "./text-index.ts"
import { textsOf } from "./texts.ts"

const none: readonly CompiledRule[] = []

/** Rules of which some may hold for a call; those with a fixed argument or touch are found without trying them all. */
export class RuleList {
  readonly size: number
  readonly #plain: CompiledRule[] = []
  readonly #byArgument = new Map<string, { steps: readonly string[]; index: TextIndex<CompiledRule> }>()
  readonly #byTouch = new Map<Touch["kind"], TextIndex<CompiledRule>>()

  constructor(rules: readonly CompiledRule[]) {
    this.size = rules.length
    for (const rule of rules) this.#file(rule)
  }

  /** The rules that hold, in the order they were written. */
  find(call: CallFacts): readonly CompiledRule[] {
    if (this.size === 0) return none
    let found: CompiledRule[] | undefined
    const look = (rule: CompiledRule) => {
      if (holds(rule, call)) (found ??= []).push(rule)
    }
    for (const rule of this.#plain) look(rule)
    for (const { steps, index } of this.#byArgument.values()) {
      const value = pointedAt(call.input, steps)
      if (typeof value === "string") index.near(value, look)
      else if (value !== undefined) {
        // A value of many parts is near to the same rules many times.
        const near = new Set<CompiledRule>()
        for (const text of textsOf(value, true)) index.near(text, (rule) => near.add(rule))
        for (const rule of near) look(rule)
      }
    }
    if (this.#byTouch.size > 0 && call.touches.list.length > 0) {
      for (const { kind, text, inside, small } of placesOf(call.touches, call.workspace).list) {
        const index = this.#byTouch.get(kind)
        for (const one of [text, inside, small?.text, small?.inside]) if (one !== undefined) index?.near(one, look)
      }
    }
    if (found === undefined || found.length < 2) return found ?? none
    return [...new Set(found)].sort((one, other) => one.order - other.order)
  }

  #file(rule: CompiledRule): void {
    const argument = rule.args.find(({ glob }) => glob.literal !== undefined)
    if (argument === undefined && rule.touching !== undefined) return this.#fileByTouch(rule)
    const { pointer, steps, glob } = argument ?? rule.args[0] ?? {}
    if (pointer === undefined || steps === undefined || glob === undefined) return void this.#plain.push(rule)
    let shelf = this.#byArgument.get(pointer)
    if (shelf === undefined) this.#byArgument.set(pointer, (shelf = { steps, index: new TextIndex() }))
    shelf.index.add(glob, rule)
  }

  #fileByTouch(rule: CompiledRule): void {
    const { touching = [] } = rule
    for (const { kinds, glob, small, written } of touching) {
      // What was written in small letters is filed already.
      if (small === true && touching.some((one) => one.small !== true && one.written === written)) continue
      for (const kind of kinds) {
        let index = this.#byTouch.get(kind)
        if (index === undefined) this.#byTouch.set(kind, (index = new TextIndex()))
        index.add(glob, rule)
      }
    }
  }
}
