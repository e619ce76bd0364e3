import { counted } from "../../../../lib/counted.ts"
import type { RuleSuggestion } from "../../../../policy/rule-admin.ts"
import { shellWord } from "../../../../lib/shell-word.ts"
import { filterOf, wholeAgent, type AuditFlags } from "../audit/audit-filter.ts"
import type { CliContext } from "../../common/context.ts"
import { withApp } from "../../common/open-app.ts"
import { printMessage, printResult } from "../../common/output.ts"
import { formatTime } from "../../common/time-text.ts"
import { waitForServers } from "../../common/wait-for-servers.ts"

/** Shows rules for what people always approved, each with the command that adds it. Adds nothing. */
export function suggestRules(context: CliContext, flags: AuditFlags): Promise<number> {
  const filter = filterOf(context, flags)
  return withApp(context, { readOnly: true }, async ({ rules, mcp, org }) => {
    await waitForServers(context, { mcp })
    const found = await rules.suggest(wholeAgent(context, { org }, filter))
    const { approved, refused, suggestions } = found
    if (context.flags.json) printResult(context, found, "")
    else {
      printMessage(context, `${approved} approved and ${refused} refused calls were read.`)
      if (suggestions.length === 0) printMessage(context, nothing)
      else printResult(context, undefined, suggestions.map(suggestionText).join("\n\n"))
    }
    return 0
  })
}

const nothing =
  "No rule is suggested: nothing was approved five times and never refused, of which it is proved what it touches."

function suggestionText({ rule, approvals, people, first, last, examples, refusedCompared }: RuleSuggestion): string {
  const { allow, agent, touching, because } = rule
  const refused =
    refusedCompared === 0
      ? `No call of ${allow} by ${agent} was refused.`
      : `It covers none of the ${refusedCompared} refused calls of ${allow} by ${agent}.`
  const words = [
    "--allow",
    allow,
    "--agent",
    agent,
    ...touching.flatMap((pattern) => ["--touching", pattern]),
    "--because",
    because,
    "--expires",
    "30d",
  ]
  return [
    `Agent ${agent} may call ${allow} where it touches nothing but: ${touching.join(", ")}.`,
    `  It would have covered ${counted(approvals, "call")} that ${people.join(", ")} approved, from ${formatTime(first)} to ${formatTime(last)}. ${refused}`,
    ...examples.map((input) => `  for example ${input.length > 160 ? `${input.slice(0, 159)}…` : input}`),
    `  qm rules add ${words.map(shellWord).join(" ")}`,
  ].join("\n")
}
