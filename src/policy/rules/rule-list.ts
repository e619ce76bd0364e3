import { valueAtPointer } from "../../lib/json-pointer.ts"
import type { Touch } from "../../core/touches.ts"
import { ruleMatches, type RuleFacts, type CompiledRule } from "./conditions.ts"
import { normalizeTouches } from "./normalize-touches.ts"
import { TextIndex } from "./text-index.ts"
import { textsOf } from "./value-texts.ts"

const none: readonly CompiledRule[] = []

/** Rules about one agent and tool. Those with an argument or touch pattern are found by an index, without trying them all. */
export class RuleList {
  readonly size: number
  readonly #plain: CompiledRule[] = []
  readonly #byArgument = new Map<string, { steps: readonly string[]; index: TextIndex<CompiledRule> }>()
  readonly #byTouch = new Map<Touch["kind"], TextIndex<CompiledRule>>()

  constructor(rules: readonly CompiledRule[]) {
    this.size = rules.length
    for (const rule of rules) this.#add(rule)
  }

  /** The rules that match, in the order they were written. */
  find(call: RuleFacts): readonly CompiledRule[] {
    if (this.size === 0) return none
    let found: CompiledRule[] | undefined
    const tryRule = (rule: CompiledRule) => {
      if (ruleMatches(rule, call)) (found ??= []).push(rule)
    }
    for (const rule of this.#plain) tryRule(rule)
    for (const { steps, index } of this.#byArgument.values()) {
      const value = valueAtPointer(call.input, steps)
      if (typeof value === "string") index.visitCandidates(value, tryRule)
      else if (value !== undefined) {
        // Several parts of one value may lead to the same rule.
        const candidates = new Set<CompiledRule>()
        for (const text of textsOf(value, true)) index.visitCandidates(text, (rule) => candidates.add(rule))
        for (const rule of candidates) tryRule(rule)
      }
    }
    if (this.#byTouch.size > 0 && call.touches.list.length > 0) {
      for (const { kind, text, inside, small } of normalizeTouches(call.touches, call.workspace).list) {
        const index = this.#byTouch.get(kind)
        for (const one of [text, inside, small?.text, small?.inside])
          if (one !== undefined) index?.visitCandidates(one, tryRule)
      }
    }
    if (found === undefined || found.length < 2) return found ?? none
    return [...new Set(found)].sort((one, other) => one.order - other.order)
  }

  #add(rule: CompiledRule): void {
    const argument = rule.args.find(({ glob }) => glob?.literal !== undefined)
    if (argument === undefined && rule.touching !== undefined) return this.#addByTouch(rule)
    const { pointer, steps, glob } = argument ?? rule.args.find(({ glob }) => glob !== undefined) ?? {}
    if (pointer === undefined || steps === undefined || glob === undefined) return void this.#plain.push(rule)
    let entry = this.#byArgument.get(pointer)
    if (entry === undefined) this.#byArgument.set(pointer, (entry = { steps, index: new TextIndex() }))
    entry.index.add(glob, rule)
  }

  #addByTouch(rule: CompiledRule): void {
    const { touching = [] } = rule
    for (const { kinds, glob, small, written } of touching) {
      // A pattern written in lower case is in the index already.
      if (small === true && touching.some((one) => one.small !== true && one.written === written)) continue
      for (const kind of kinds) {
        let index = this.#byTouch.get(kind)
        if (index === undefined) this.#byTouch.set(kind, (index = new TextIndex()))
        index.add(glob, rule)
      }
    }
  }
}
