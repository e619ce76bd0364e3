import type { AgentView, SessionMode } from "../../core/organisation.ts"
import type { DecisionInput } from "../rules/decision-input.ts"
import type { Grant, Rule } from "../../core/rule.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { resultsOf, type CallFacts, type Check, type Result, type Sentences, type ToolLookup } from "../check.ts"
import { callFacts } from "../decide/decide.ts"
import { GrantIndex } from "../grants.ts"
import { compileRules } from "../rules/rules.ts"
import { now, tools } from "../testing.ts"
import { visibleFacts } from "../decide/visible.ts"

/** Returns the findings of one check of stage `visible` about an agent and a tool. */
export function lookVisible(
  check: Check<"visible">,
  tool: RegisteredTool,
  who: AgentView,
  {
    levelOrder = "asc",
    rules = [],
    lookup = tools,
  }: { levelOrder?: "asc" | "desc"; rules?: readonly Rule[]; lookup?: ToolLookup } = {},
) {
  const compiled = compileRules(rules, tools)
  const policy = { hiddenByRule: (one: RegisteredTool, by: AgentView) => compiled.select(one, by).hidden(now) }
  const facts = visibleFacts(tool, who, { tools: lookup, levelOrder, policy })
  return resultsOf(check, facts).map(shown)
}

/** Returns the findings of one check of another stage about a call. */
export function lookAtCall<S extends Exclude<Check["stage"], "visible">>(
  check: Check<S>,
  call: DecisionInput,
  {
    rules = [],
    grants = [],
    mode = "ask",
  }: { rules?: readonly Rule[]; grants?: readonly Grant[]; mode?: SessionMode } = {},
) {
  const facts = callFacts(call, compileRules(rules, tools), new GrantIndex(grants), mode)
  return resultsOf(check as unknown as Check<S, Sentences, CallFacts>, facts).map(shown)
}

/** A result without its sentence: sentences are pinned in sentences.test.ts. */
function shown({ verdict, reason: { sentence: _sentence, ...reason }, fix, ending }: Result) {
  return { verdict, ...reason, fix: fix?.(), ending }
}
