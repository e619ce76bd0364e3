import { expect, test } from "vitest"
import type { Rule } from "../../core/rule.ts"
import { reasonOf } from "../rules/rule-reason.ts"
import { rule } from "../testing.ts"
import { checks } from "./list.ts"

/** Every word a sentence asks for, as its own name in braces. */
const words = new Proxy({}, { get: (_, name) => `{${String(name)}}` }) as never

test("the sentence of every code", () => {
  const table = checks.flatMap(({ name, sentences }) =>
    Object.entries(sentences).map(([code, sentence]) => `${name} ${code}: ${sentence.en(words)}`),
  )
  expect(table.join("\n")).toMatchInlineSnapshot(`
    "agent agent_unknown: This agent does not exist, has ended, or has no known role. A person creates agents with 'qm agents create'.
    freeze agent_frozen: Agent {agent} was frozen by {by} at {at}{why} A person ends the freeze with '{thaw}'.
    configuration tool_switched_off: Tool {tool} is switched off. Add it to tools.enabled to use it.
    pin tool_quarantined: {quarantine}
    group group_missing: Role {role} has no group with this tool; give it '{group}'.
    group group_above_missing: An agent above {agent} does not have the group '{group}', so {agent} does not have it either.
    group group_not_registered: The tool is in no group: '{group}' is not registered, or no longer has it.
    role role_not_allowed: Role {role} not in allowed roles
    role role_made_by_agent: Role {role} not in allowed roles: it was made by an agent
    department department_not_allowed: Department {department} not allowed
    level level_below_minimum: Level {level} below minimum {limit}
    level level_above_maximum: Level {level} above maximum {limit}
    parent parent_not_allowed: Agent {agent}, which is above this one, may not use it: {sentence}
    dependency dependency_not_registered: Tool {tool} needs {needs}, which nobody has registered. It is off until then.
    dependency dependency_not_allowed: Tool {tool} needs {needs}, which this agent may not use: {sentence}
    limit rate_limited: {sentence}
    database database_not_allowed: Role {role} may not use the database {database}.
    mode plan_mode: The agent is in plan mode, in which only tools that read may run. Finish the plan, and make this call later.
    grant remembered_no: {by} said no, and it is remembered: {why}
    guard touches_unproved: It could not be proved what this call of {tool} touches: a person looks at it first.
    guard touches_unproved_for_rule: It could not be proved what this call of {tool} touches, and the rule to {verdict} {pattern} may be about it: {why}
    confirmation confirmation_wished: The call itself asks to be confirmed.
    level tool_sensitive: Tool {tool} is sensitive, so a person must approve every call.
    level tool_wants_approval: Tool {tool} is configured to need approval before it runs.
    level tool_moderate: Tool {tool} is moderate, so a person must approve the call.
    mode edits_mode: The session is in edits mode, in which the workspace is changed without asking.
    grant remembered_yes: {by} said yes, and it is remembered: {why}"
  `)
})

test("the sentence of every kind of rule", () => {
  const kinds: [Rule["verdict"], Partial<Rule>][] = [
    ["deny", {}],
    ["ask", {}],
    ["ask", { release: "always" }],
    ["ask", { release: "on-error" }],
    ["allow", {}],
  ]
  const table = [false, true].flatMap((shadow) =>
    kinds.map(([verdict, more]) => {
      const { code, sentence } = reasonOf(
        rule(verdict, "*", { ...more, because: "{because}", ...(shadow ? { shadow } : {}) }),
      )
      return `${code}${shadow ? " in shadow" : ""}: ${sentence}`
    }),
  )
  expect(table.join("\n")).toMatchInlineSnapshot(`
    "rule_denies: A rule denies it: {because}.
    rule_asks: A rule asks a person first: {because}.
    rule_holds_result: A rule says that the result is held: {because}.
    rule_holds_result: A rule says that a failed result is held: {because}.
    rule_allows: A rule allows it: {because}.
    rule_denies in shadow: A rule in shadow would have denied it: {because}.
    rule_asks in shadow: A rule in shadow would have asked a person first: {because}.
    rule_holds_result in shadow: A rule in shadow would have said that the result is held: {because}.
    rule_holds_result in shadow: A rule in shadow would have said that a failed result is held: {because}.
    rule_allows in shadow: A rule in shadow would have allowed it: {because}."
  `)
})
