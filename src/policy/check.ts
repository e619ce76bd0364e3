import type { Finding } from "../core/guard.ts"
import type { Reason, ReasonParams } from "../core/reason.ts"
import type { AgentView, SessionMode } from "../core/organisation.ts"
import type { LevelOrder } from "../core/permission.ts"
import type { DecisionInput } from "./rules/decision-input.ts"
import type { EndingCode } from "../core/result.ts"
import type { Grant } from "../core/rule.ts"
import type { RegisteredTool } from "../core/tool.ts"
import type { CompiledRule, RuleTools } from "./rules/conditions.ts"
import type { Selection } from "./rules/rules.ts"

/**
 * The stages of checks and the decisions each may make, in this order:
 * - `visible` denies without knowing the input: the tool is hidden from the agent.
 * - `deny` denies the call. Nothing lifts it.
 * - `ask` asks a person. Only a person lifts it.
 * - `level` asks because of the tool's own level.
 * - `loosen` lifts the ask of stage `level`, and nothing else.
 * - `release` holds the result back.
 * - `shadow` decides nothing: its reasons are only written down.
 */
export type Stage = keyof FactsOf

interface FactsOf {
  visible: VisibleFacts
  deny: CallFacts
  ask: CallFacts
  level: CallFacts
  loosen: CallFacts
  release: CallFacts
  shadow: CallFacts
}

interface VerdictOf {
  visible: "deny"
  deny: "deny"
  ask: "ask"
  level: "ask"
  loosen: "allow"
  release: "pass"
  shadow: "pass"
}

/** The registry as the checks see it. */
export interface ToolLookup {
  inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean
  /** The tool an agent means by a name; needed where tools depend on others. */
  resolve?(name: string, who: AgentView | undefined): RegisteredTool | undefined
}

/** The facts for a check of stage `visible`: the agent and the tool, never the input. */
export interface VisibleFacts {
  readonly who: AgentView
  readonly tool: RegisteredTool
  readonly tools: ToolLookup
  readonly levelOrder: LevelOrder
  /** The first rule that denies this tool to this agent whatever the input. */
  hidingRule(): Reason | undefined
  /** Why another tool is hidden from the same agent. Undefined also for a tool that is being checked already. */
  hides(tool: RegisteredTool): Result | undefined
}

/** The facts for every other check. */
export interface CallFacts extends DecisionInput {
  readonly findings: readonly Finding[]
  /** The rules about this agent and this tool. */
  readonly rules: Selection
  /** The remembered answers for this agent and this tool. */
  readonly grants: readonly Grant[]
  readonly mode: SessionMode
  readonly tools: Pick<RuleTools, "inGroups">
}

/** One check. `decide` and `explain` both call `look`, so that they cannot differ. */
export interface Check<S extends Stage = Stage, T extends Sentences = Sentences, F = FactsOf[S]> {
  /** The name of this check in `Reason.check`. */
  readonly name: string
  readonly stage: S
  /** The condition for the check to find anything. `decide` skips the check when it is not met. */
  readonly needs?: Need
  /** The sentence of every code this check gives. */
  readonly sentences: T
  /** Returns the source of the setting that the check reads. */
  source(facts: F): string
  /** Decides. Undefined or an empty list: the check has no objection, or nothing to lift. */
  look(facts: F): Outcome<S, T> | readonly Outcome<S, T>[] | undefined
  /** The sentence of `qm why --all` when `look` found nothing; checks of one name have one in Chinese. Only `explain` uses it. */
  readonly passes?: InBothLanguages<(facts: F) => string | undefined>
  /** The rules or remembered answers that do not fit this call. Only `explain` calls it. */
  unmatched?(facts: F): readonly { source: string; sentence: string }[]
}

export type Need = "rules" | "findings" | "grants" | "mode"

export type Sentences = Readonly<Record<string, InBothLanguages<(words: never) => string>>>

/** A sentence: the English is made here, the Chinese by whoever shows it, with `{name}` for the params of the reason. */
export interface InBothLanguages<F> {
  readonly en: F
  /** `{rest}` is what follows the colon in the English sentence, `{text}` all of it: a person's own words. */
  readonly zh: string
}

type Outcome<S extends Stage, T extends Sentences> = Ready<VerdictOf[S]> | Coded<VerdictOf[S], T>

/** Optional fields of a result besides its verdict and its reason. */
interface Details {
  /** The exact command or the exact line of YAML that would change the verdict. A function, because only `explain` asks. */
  readonly fix?: () => string | undefined
  /** For a deny: the code the call ends with; `tool_not_available` or `permission_denied` when left out. */
  readonly ending?: EndingCode
  /** For a deny by a limit. */
  readonly retryAfterMs?: number
  /** For an ask or a held result: the rule whose approvers, deadline and release count. */
  readonly rule?: CompiledRule
}

/** A result whose reason was made before, by a rule or a guard. */
interface Ready<V> extends Details {
  readonly verdict: V
  readonly reason: Reason
}

/** A result whose reason is made of its code, its params and the check's sentence for it. */
type Coded<V, T extends Sentences> = {
  [C in keyof T & string]: Details & {
    readonly verdict: V
    readonly code: C
    readonly params?: ReasonParams
    readonly words: WordsOf<T[C]["en"]>
    readonly source?: string
  }
}[keyof T & string]

/** The words that a sentence takes; anything where the table of sentences is not known. */
type WordsOf<F extends (words: never) => string> =
  Parameters<F> extends [infer W] ? ([W] extends [never] ? unknown : W) : unknown

/** The result of a check, with its reason. */
export interface Result extends Details {
  readonly verdict: "deny" | "ask" | "allow" | "pass"
  readonly reason: Reason
}

/** Returns the check as it is; the compiler compares the codes that `look` gives with `sentences`. */
export function defineCheck<S extends Stage, T extends Sentences>(
  check: Check<S, NoInfer<T>> & { sentences: T },
): Check<S> {
  return check as Check<S>
}

interface More<W> extends Details {
  /** The values in the sentence besides the params. */
  readonly words?: W
  /** The source, when it is not the check's own. */
  readonly source?: string
}

const coded =
  <V>(verdict: V) =>
  <C extends string, P extends ReasonParams, W extends object>(code: C, params?: P, more?: More<W>) => {
    const words = more?.words === undefined ? (params ?? {}) : { ...params, ...more.words }
    return {
      verdict,
      code,
      params,
      words: words as P & W,
      source: more?.source,
      fix: more?.fix,
      ending: more?.ending,
      retryAfterMs: more?.retryAfterMs,
    }
  }

export const deny = coded("deny" as const)
export const ask = coded("ask" as const)
export const allow = coded("allow" as const)

const none: readonly Result[] = []

/** Returns the results of a check, none when it passes. */
export function resultsOf<S extends Stage, F>(check: Check<S, Sentences, F>, facts: F): readonly Result[] {
  const found = check.look(facts)
  if (found === undefined) return none
  if (!isList(found)) return [complete(check, facts, found)]
  return found.length === 0 ? none : found.map((one) => complete(check, facts, one))
}

function isList<T>(found: T | readonly T[]): found is readonly T[] {
  return Array.isArray(found)
}

function complete<S extends Stage, F>(check: Check<S, Sentences, F>, facts: F, found: Outcome<S, Sentences>): Result {
  if ("reason" in found) return found
  const { verdict, code, params, words, source = check.source(facts), fix, ending, retryAfterMs } = found
  const sentence = check.sentences[code]!.en(words as never)
  const reason: Reason = { check: check.name, source, code, sentence }
  if (params !== undefined) reason.params = params
  if (check.stage === "ask") reason.binding = true
  return { verdict, reason, fix, ending, retryAfterMs }
}
