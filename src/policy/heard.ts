import type { Explanation } from "../model/app.ts"
import type { AgentView, SessionMode } from "../model/organisation.ts"
import type { LevelOrder } from "../model/permission.ts"
import type { Facts } from "../model/ports.ts"
import type { Reason } from "../model/record.ts"
import type { RegisteredTool } from "../model/tool.ts"
import * as change from "./changes.ts"
import { holds, isConditional, type CompiledRule } from "./conditions.ts"
import { found, levelAsk, ownAsks, questionAsk, rememberedNo, rememberedYes } from "./decide.ts"
import { fits, type GrantIndex } from "./grants.ts"
import { allowedByMode, deniedByMode } from "./modes.ts"
import type { RuleBook } from "./rules.ts"
import {
  departmentBecause,
  dependencyBecause,
  frozenBecause,
  groupBecause,
  levelBecause,
  quarantinedBecause,
  roleBecause,
  spawnerBecause,
  switchedOffBecause,
  type Groups,
} from "./visible.ts"

/** Everything that decides. */
export interface Judges {
  book: RuleBook
  grants: GrantIndex
  mode: SessionMode
  groups: Groups
  levelOrder: LevelOrder
  /** The version of all of it. */
  version: string
}

/** One voice, and what a person could do to make it say something else. */
export interface Heard {
  voice: Explanation["heard"][number]
  change?: string | undefined
}

/** The voices that need no input: they decide whether the agent may know of the tool. */
export function hearVisible(tool: RegisteredTool, who: AgentView, { book, groups, levelOrder }: Judges): Heard[] {
  const { agent, role } = who
  const { allowedRoles, allowedDepartments, minLevel } = tool.permission
  const speak = (
    voice: string,
    source: string,
    reason: Reason | undefined,
    otherwise: string,
    whatNow: string | undefined,
  ) => (reason === undefined ? quiet(voice, source, otherwise) : says(reason, "deny", whatNow))
  const anyone = (list: readonly unknown[]) => (list.length === 0 ? "It is open to every" : "It is open to this")
  const unconditional = book.select(tool, who).rules.filter((one) => one.rule.verdict === "deny" && !isConditional(one))
  return [
    quiet("agent", "organisation", `Agent ${agent.id} is known and has the role ${role.name}.`),
    speak("freeze", "freeze", frozenBecause(who), "Nobody has frozen the agent.", change.thaw(who)),
    speak(
      "configuration",
      "tools.enabled",
      switchedOffBecause(tool),
      "The tool is switched on.",
      change.switchOn(tool),
    ),
    ...(tool.type === "mcp"
      ? [
          speak(
            "pin",
            tool.group,
            quarantinedBecause(tool),
            "Nobody needs to look at the tool first.",
            change.trustPin(tool),
          ),
        ]
      : []),
    speak(
      "group",
      `role ${role.name}`,
      groupBecause(tool, who, groups),
      `Role ${role.name} has a group with this tool.`,
      change.giveGroup(tool, who, groups),
    ),
    speak("role", tool.id, roleBecause(tool, who), `${anyone(allowedRoles)} role.`, change.allowRole(tool, who)),
    speak(
      "department",
      tool.id,
      departmentBecause(tool, who),
      `${anyone(allowedDepartments)} department.`,
      change.allowDepartment(tool, who),
    ),
    speak(
      "level",
      tool.id,
      levelBecause(tool, who, levelOrder),
      minLevel === undefined ? "It asks for no level." : `Level ${who.level} is enough.`,
      change.giveLevel(tool, who),
    ),
    ...unconditional
      .filter(({ rule }) => rule.shadow !== true)
      .map(({ rule, reason }) => says(reason, "deny", change.rule(rule))),
    ...hearSpawners(tool, who, groups, levelOrder),
    ...hearDependencies(tool, who, { book, groups, levelOrder }),
  ]
}

/** The voices that look at the input, in the order in which they are asked. */
export function hearCall(facts: Facts, { book, grants, mode }: Judges): Heard[] {
  const { tool, who, limit } = facts
  const { rules } = book.select(tool, who)
  const about = rules.filter(({ rule }) => rule.shadow !== true)
  const saying = (verdict: "allow" | "ask" | "deny") => about.filter(({ rule }) => rule.verdict === verdict)
  const remembered = grants.of(who.agent.id, tool.name)
  const level = levelAsk(facts)
  const question = questionAsk(tool)
  const planned = deniedByMode(mode, facts)
  const edits = allowedByMode(mode, facts, book.tools)
  return [
    limit.ok
      ? quiet("limit", tool.id, "There is room in its limits.")
      : says({ voice: "limit", source: tool.id, sentence: limit.sentence }, "deny", change.wait(limit.retryAfterMs)),
    ...found(facts, "deny").map((reason) => says(reason, "deny", change.guard(reason))),
    ...(rules.length === 0 ? [quiet("rule", "rules", "No rule is about this agent and tool.")] : []),
    ...saying("deny")
      .filter(isConditional)
      .map((rule) => hearRule(rule, facts)),
    planned === undefined && edits === undefined
      ? quiet("mode", `session ${facts.sessionId}`, `The session's mode is ${mode}.`)
      : says((planned ?? edits)!, planned === undefined ? "allow" : "deny", change.mode(mode)),
    ...remembered
      .filter(({ verdict }) => verdict === "deny")
      .map((grant) =>
        fits(grant, facts)
          ? says(rememberedNo(grant), "deny", change.grant(grant))
          : quiet("grant", `grant ${grant.id}`, `A remembered no is not for this call: ${grant.words}`),
      ),
    ...saying("ask").map((rule) => hearRule(rule, facts)),
    ...ownAsks(facts).map((reason) => says(reason, "ask", change.ask(reason))),
    ...(question === undefined ? [] : [says(question, "ask")]),
    level === undefined
      ? says({ voice: "level", source: tool.id, sentence: unasked(tool) }, "allow")
      : says(level, "ask", change.allowRule(tool)),
    ...saying("allow").map((rule) => hearRule(rule, facts)),
    ...found(facts, "allow").map((reason) => says(reason, "allow", change.guard(reason))),
    ...remembered
      .filter(({ verdict }) => verdict === "allow")
      .map((grant) =>
        tool.permission.level !== "sensitive" && fits(grant, facts)
          ? says(rememberedYes(grant), "allow", change.grant(grant))
          : quiet("grant", `grant ${grant.id}`, `A remembered yes is not for this call: ${grant.words}`),
      ),
    ...rules
      .filter((one) => one.rule.shadow === true && holds(one, facts))
      .map(({ reason }) => says(reason, "nothing")),
  ]
}

function unasked({ name, permission }: RegisteredTool): string {
  const why = permission.level === "public" ? "is public" : "only reads with this input"
  return `Tool ${name} ${why}: it runs unasked.`
}

export function says(reason: Reason, verdict: Heard["voice"]["says"], whatNow?: string): Heard {
  return { voice: { ...reason, says: verdict }, change: whatNow }
}

function quiet(voice: string, source: string, sentence: string): Heard {
  return says({ voice, source, sentence }, "nothing")
}

function hearRule(compiled: CompiledRule, facts: Facts): Heard {
  const { rule, reason } = compiled
  if (!holds(compiled, facts)) {
    return quiet(
      "rule",
      rule.source,
      `The rule to ${rule.verdict} ${rule.tool} is not about this input: ${rule.because}`,
    )
  }
  // A rule about the result says nothing about the run.
  return rule.release === undefined ? says(reason, rule.verdict, change.rule(rule)) : says(reason, "nothing")
}

function hearSpawners(tool: RegisteredTool, who: AgentView, groups: Groups, levelOrder: LevelOrder): Heard[] {
  if (who.spawners.length === 0) return []
  const reason = spawnerBecause(tool, who, groups, levelOrder)
  const above = who.spawners.map(({ agent }) => agent.id).join(", ")
  if (reason === undefined)
    return [quiet("spawner", `agent ${above}`, `Who is above the agent may use it too: ${above}.`)]
  return [says(reason, "deny", change.raise(reason))]
}

function hearDependencies(
  tool: RegisteredTool,
  who: AgentView,
  { book, groups, levelOrder }: Pick<Judges, "book" | "groups" | "levelOrder">,
): Heard[] {
  const { id, dependsOn = [], lacks = [] } = tool
  if (dependsOn.length + lacks.length === 0 && tool.together === undefined) return []
  const policy = { hidden: (one: RegisteredTool, by: AgentView) => book.select(one, by).hidden }
  const reason = dependencyBecause(tool, who, groups, levelOrder, policy)
  if (reason !== undefined) return [says(reason, "deny", change.provide(lacks))]
  return dependsOn.length === 0
    ? []
    : [quiet("dependency", id, `The agent has what the tool needs: ${dependsOn.join(", ")}.`)]
}
