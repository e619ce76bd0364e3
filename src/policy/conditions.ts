import type { AgentView } from "../model/organisation.ts"
import type { Effect } from "../model/permission.ts"
import { pointedAt, pointerSteps } from "../model/pointer.ts"
import type { Facts } from "../model/ports.ts"
import { readGlob, type Glob } from "../model/glob.ts"
import { readToolPattern, readTouchPattern, type ToolPattern, type TouchPattern } from "../model/rule-patterns.ts"
import type { Reason } from "../model/record.ts"
import type { Rule, RuleVerdict } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { placeFits, placesOf, type Place } from "./places.ts"
import { reasonOf } from "./reasons.ts"
import { textFits } from "./texts.ts"

/** What rules ask the registry. */
export interface RuleTools {
  /** The tool's own name for a name or an alias; what nobody knows stays as it is. */
  canonical(name: string): string
  inGroups(tool: RegisteredTool, groups: readonly string[]): boolean
}

/** A rule whose patterns are read. */
export interface CompiledRule {
  readonly rule: Rule
  /** Its place among all rules. */
  readonly order: number
  readonly reason: Reason
  readonly tool: ToolPattern
  readonly args: readonly ArgumentPattern[]
  readonly touching: readonly TouchPattern[] | undefined
  readonly except: readonly TouchPattern[] | undefined
}

export interface ArgumentPattern {
  readonly pointer: string
  readonly steps: readonly string[]
  readonly glob: Glob
}

/** What a call gives the conditions that need its input. */
export type CallFacts = Pick<Facts, "input" | "touches" | "workspace">

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
  }
}

/** Whether the rule looks at more than who calls which tool. */
export function isConditional({ args, touching, except }: CompiledRule): boolean {
  return args.length > 0 || touching !== undefined || except !== undefined
}

/** Whether the rule is about this tool, whoever calls it. What denies or asks for a tool does so for what hides it. */
export function isAboutTool(compiled: CompiledRule, tool: RegisteredTool, tools: RuleTools): boolean {
  const { together } = tool
  if (together === undefined) return isAboutOne(compiled, tool, tools)
  const isAbout = (one: RegisteredTool) => isAboutOne(compiled, one, tools)
  return compiled.rule.verdict === "allow" ? together.every(isAbout) : together.some(isAbout)
}

/** A tool that does not say its effect could have any. */
function isAboutOne({ rule, tool: pattern }: CompiledRule, tool: RegisteredTool, tools: RuleTools): boolean {
  if (rule.effect !== undefined && !hasEffect(tool, rule.effect, rule.verdict)) return false
  if ("name" in pattern) return pattern.name === tool.name
  return "group" in pattern ? tools.inGroups(tool, [pattern.group]) : pattern.glob.matches(tool.name)
}

/** Whether the rule is about this agent. What denies or asks for an agent does so for everyone below it. */
export function isAboutAgent({ rule }: CompiledRule, who: AgentView): boolean {
  return names(rule, who) || (rule.verdict !== "allow" && who.spawners.some((spawner) => names(rule, spawner)))
}

/** Whether what the rule says about input and touches is so. An allow needs proof that it knows every touch. */
export function holds({ rule, args, touching, except }: CompiledRule, call: CallFacts): boolean {
  const { input, touches, workspace } = call
  const loosens = rule.verdict === "allow"
  const { list, proved } = placesOf(touches, workspace)
  if (loosens && !proved) return false
  for (const { steps, glob } of args) if (!textFits(pointedAt(input, steps), glob, !loosens)) return false
  const covered = (patterns: readonly TouchPattern[]) => (place: Place) => patterns.some((one) => placeFits(place, one))
  if (touching !== undefined) {
    const said = loosens ? list.filter(({ derived }) => !derived) : list
    const touched = loosens ? said.length > 0 && said.every(covered(touching)) : said.some(covered(touching))
    if (!touched) return false
  }
  if (except === undefined) return true
  // An exception tightens what allows, so there one touch is enough.
  return loosens ? !list.some(covered(except)) : !(proved && list.length > 0 && list.every(covered(except)))
}

function hasEffect({ effect }: RegisteredTool, wanted: readonly Effect[], verdict: RuleVerdict): boolean {
  return effect === undefined ? verdict !== "allow" : wanted.includes(effect)
}

function names({ role, department, agent }: Rule, who: AgentView): boolean {
  if (agent !== undefined && !agent.includes(who.agent.id)) return false
  if (department !== undefined && (who.department === undefined || !department.includes(who.department))) return false
  if (role === undefined) return true
  // A name an agent chose for a role it made says nothing.
  return who.role.madeBy !== "agent" && (role.includes(who.role.name) || role.includes(who.role.id))
}

function readArgument(pointer: string, pattern: string): ArgumentPattern | undefined {
  const steps = pointerSteps(pointer)
  const read = readGlob(pattern, "text")
  return steps === undefined || "mistake" in read ? undefined : { pointer, steps, glob: read.glob }
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

/** May only ever tighten: what happens to a folder happens to all in it, and some disks take other letters for the same. */
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
