import type { AgentView } from "../../core/organisation.ts"
import { saysItOnlyReads } from "../../core/mcp.ts"
import type { Effect } from "../../core/permission.ts"
import { valueAtPointer } from "../../lib/json-pointer.ts"
import type { DecisionInput } from "./decision-input.ts"
import { readToolPattern, readTouchPattern, type ToolPattern, type TouchPattern } from "../../schema/rule-patterns.ts"
import type { Reason } from "../../core/reason.ts"
import type { Rule, RuleVerdict } from "../../core/rule.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { readArgument, type ArgumentPattern } from "./argument-conditions.ts"
import { touchMatches, normalizeTouches, type NormalizedTouch } from "./normalize-touches.ts"
import { reasonOf } from "./rule-reason.ts"

/** The registry as the rules see it. */
export interface RuleTools {
  /** The tool's own name for a name or an alias; an unknown name is returned unchanged. */
  canonical(name: string): string
  inGroups(tool: RegisteredTool, groups: readonly string[]): boolean
}

/** A rule whose patterns are parsed. */
export interface CompiledRule {
  readonly rule: Rule
  /** Its place among all rules. */
  readonly order: number
  readonly reason: Reason
  readonly tool: ToolPattern
  readonly args: readonly ArgumentPattern[]
  readonly touching: readonly TouchPattern[] | undefined
  readonly except: readonly TouchPattern[] | undefined
  /** The time the rule expires, in milliseconds. */
  readonly expiresAt: number
}

/** The facts for the conditions of a rule. */
export type RuleFacts = Pick<DecisionInput, "input" | "touches" | "workspace" | "at">

/** Undefined for a rule that cannot be read: it does not count, and `findFlaws` says so. */
export function compileRule(rule: Rule, order: number, tools: RuleTools): CompiledRule | undefined {
  const tool = readToolPattern(rule.tool)
  const args = Object.entries(rule.args ?? {}).map(([pointer, pattern]) => readArgument(pointer, pattern))
  const touching = rule.touching && readTouches(rule.touching, rule.verdict === "allow")
  const except = rule.except && readTouches(rule.except, rule.verdict !== "allow")
  if ("mistake" in tool || args.includes(undefined) || touching === "malformed" || except === "malformed")
    return undefined
  return {
    rule,
    order,
    reason: reasonOf(rule),
    tool: "name" in tool ? { name: tools.canonical(tool.name) } : tool,
    args: args as ArgumentPattern[],
    touching,
    except,
    expiresAt: rule.expiresAt === undefined ? Infinity : Date.parse(rule.expiresAt),
  }
}

/** Reports whether the rule looks at more than who calls which tool. */
export function isConditional({ args, touching, except }: CompiledRule): boolean {
  return args.length > 0 || touching !== undefined || except !== undefined
}

/** Reports whether the rule is about this tool. A deny or ask rule about a tool is also about a tool that hides it. */
export function isAboutTool(compiled: CompiledRule, tool: RegisteredTool, tools: RuleTools): boolean {
  const { sameNameTools } = tool
  if (sameNameTools === undefined) return isAboutOne(compiled, tool, tools)
  const isAbout = (one: RegisteredTool) => isAboutOne(compiled, one, tools)
  return compiled.rule.verdict === "allow" ? sameNameTools.every(isAbout) : sameNameTools.some(isAbout)
}

/** A tool that does not declare its effect could have any. */
function isAboutOne({ rule, tool: pattern }: CompiledRule, tool: RegisteredTool, tools: RuleTools): boolean {
  if (rule.effect !== undefined && !hasEffect(tool, rule.effect, rule.verdict)) return false
  if (rule.readOnlyHint === true && !(tool.mcp !== undefined && saysItOnlyReads(tool.mcp))) return false
  if ("name" in pattern) return pattern.name === tool.name
  return "group" in pattern ? tools.inGroups(tool, [pattern.group]) : pattern.glob.matches(tool.name)
}

/** Reports whether the rule is about this agent. A deny or ask rule about an agent is also about everyone below it. */
export function isAboutAgent({ rule }: CompiledRule, who: AgentView): boolean {
  return names(rule, who) || (rule.verdict !== "allow" && who.ancestors.some((ancestor) => names(rule, ancestor)))
}

/**
 * Reports whether the conditions of the rule on input, touches and time match. An allow rule needs every touch to be
 * proved.
 */
export function ruleMatches({ rule, args, touching, except, expiresAt }: CompiledRule, call: RuleFacts): boolean {
  const { input, touches, workspace, at } = call
  if (expiresAt <= at) return false
  const loosens = rule.verdict === "allow"
  const { list, proved } = normalizeTouches(touches, workspace)
  if (loosens && !proved) return false
  for (const argument of args) if (!argumentHolds(argument, input, loosens)) return false
  const covered = (patterns: readonly TouchPattern[]) => (place: NormalizedTouch) =>
    patterns.some((one) => touchMatches(place, one))
  if (touching !== undefined) {
    const relevant = loosens ? list.filter(({ derived }) => !derived) : list
    const touched = loosens
      ? relevant.length > 0 && relevant.every(covered(touching))
      : relevant.some(covered(touching))
    if (!touched) return false
  }
  if (except === undefined) return true
  // An exception of an allow rule tightens, so one touch is enough there.
  return loosens ? !list.some(covered(except)) : !(proved && list.length > 0 && list.every(covered(except)))
}

export function argumentHolds({ steps, holds }: ArgumentPattern, input: unknown, loosens: boolean): boolean {
  return holds(valueAtPointer(input, steps), loosens)
}

function hasEffect({ effect }: RegisteredTool, wanted: readonly Effect[], verdict: RuleVerdict): boolean {
  return effect === undefined ? verdict !== "allow" : wanted.includes(effect)
}

function names({ role, department, agent }: Rule, who: AgentView): boolean {
  if (agent !== undefined && !agent.includes(who.agent.id)) return false
  if (department !== undefined && (who.department === undefined || !department.includes(who.department))) return false
  if (role === undefined) return true
  // An agent chooses the name of a role it makes, so that name counts for nothing.
  return who.role.madeBy !== "agent" && (role.includes(who.role.name) || role.includes(who.role.id))
}

function readTouches(written: readonly string[], loosens: boolean): TouchPattern[] | "malformed" {
  const patterns: TouchPattern[] = []
  for (const pattern of written) {
    const read = readTouchPattern(pattern, loosens)
    if ("mistake" in read) return "malformed"
    patterns.push(read)
    if (!loosens) patterns.push(...wider(read))
  }
  return patterns
}

/** Further patterns that may only tighten: the folder itself, and lower case, because some disks ignore case. */
function wider({ written, from }: TouchPattern): TouchPattern[] {
  const folder = written.endsWith("/**") ? readable(written.slice(0, -"/**".length)) : []
  if (from === undefined) return folder
  const small = [written, ...folder.map((one) => one.written)].flatMap((one) => readable(one.toLowerCase()))
  return [...folder, ...small.map((one) => ({ ...one, small: true }))]
}

function readable(written: string): TouchPattern[] {
  const read = readTouchPattern(written, false)
  return "mistake" in read ? [] : [read]
}
