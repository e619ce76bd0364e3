import type { RuleExample } from "../../core/rule.ts"
import { ruleMatches, isAboutAgent, isAboutTool } from "./conditions.ts"
import type { RuleContext, RuleWithTools } from "./flaws.ts"

/** Every example of a rule that does not come out as it says. A rule is tried by itself, without the others. */
export function exampleSentences(placed: RuleWithTools, known: RuleContext): string[] {
  const { match = [], miss = [] } = placed.rule.examples ?? {}
  return [
    ...match.flatMap((example, index) => trial(placed, example, true, `examples.match[${index}]`, known) ?? []),
    ...miss.flatMap((example, index) => trial(placed, example, false, `examples.miss[${index}]`, known) ?? []),
  ]
}

function trial(
  placed: RuleWithTools,
  example: RuleExample,
  wanted: boolean,
  place: string,
  known: RuleContext,
): string | undefined {
  const { tool: pattern } = placed
  const name =
    example.tool === undefined ? ("name" in pattern ? pattern.name : undefined) : known.canonical(example.tool)
  if (name === undefined) return `'${place}' names no tool, and the rule is about several. Add tool to the example.`
  const tool = known.tools().find((one) => one.name === name)
  if (tool === undefined) {
    // A missing tool of the rule itself is reported by dead-rules.ts.
    return example.tool === undefined ? undefined : `'${place}' calls the tool '${example.tool}', which does not exist.`
  }
  const who = example.agent === undefined ? undefined : known.view(example.agent)
  if (example.agent !== undefined && who === undefined) {
    return `'${place}' is about the agent '${example.agent}', which does not exist or has no known role.`
  }
  const { input = {} } = example
  const isMatch =
    isAboutTool(placed, tool, known) &&
    (who === undefined || isAboutAgent(placed, who)) &&
    // An expired rule is tried as it was.
    ruleMatches(placed, { input, touches: known.touches(tool, input), workspace: known.workspace, at: -Infinity })
  if (isMatch === wanted) return undefined
  return `'${place}' should ${wanted ? "match" : "not match"} the rule and does ${wanted ? "not" : "all the same"}: ${JSON.stringify(example)}`
}
