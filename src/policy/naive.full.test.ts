import fc from "fast-check"
import { expect, test } from "vitest"
import type { AgentView, SessionMode } from "../core/organisation.ts"
import { canonicalJson, sha256 } from "../lib/canonical-json.ts"
import type { DecisionInput } from "./rules/decision-input.ts"
import type { Verdict } from "../core/verdict.ts"
import type { ArgumentCondition, ArgumentValue, Grant, Rule } from "../core/rule.ts"
import type { Touch } from "../core/touches.ts"
import type { RegisteredTool } from "../core/tool.ts"
import { decide } from "./decide/decide.ts"
import { GrantIndex } from "./grants.ts"
import { compileRules } from "./rules/rules.ts"
import { deletingCall, heldCall, someFacts, someGrantsFor, someMode, someRule, someRules, tools } from "./testing.ts"

/* An oracle: rules and decision written once more, slowly and straight from the design, without using the code. */

function glob(pattern: string, text: string, isPath = false): boolean {
  const any = isPath ? "[^/]" : "[^]"
  const source = pattern.replace(/(^|(?<=\/))\*\*\/|\*\*|\*|\?|\[[^\]]*\]|[^]/g, (part) => {
    if (part === "**/") return isPath ? "(?:[^]*/)?" : "[^]*/"
    if (part === "**") return "[^]*"
    if (part === "*") return `${any}*`
    if (part === "?") return any
    return part.length > 1 ? part : part.replace(/[\\^$.+(){}|[\]/]/, "\\$&")
  })
  return new RegExp(`^${source}$`).test(text)
}

function fitsTool(rule: Rule, { tool }: DecisionInput): boolean {
  const each = (tool.sameNameTools ?? [tool]).map((one) => fitsOneTool(rule, one))
  return rule.verdict === "allow" ? !each.includes(false) : each.includes(true)
}

function fitsOneTool({ tool: written, effect, verdict }: Rule, tool: RegisteredTool): boolean {
  if (effect && !(tool.effect === undefined ? verdict !== "allow" : effect.includes(tool.effect))) return false
  if (written.startsWith("group:")) return tool.group === written.slice(6)
  return written === "Read"
    ? tool.name === "read_file"
    : written === "Fetch"
      ? tool.name === "http_get"
      : glob(written, tool.name)
}

function fitsAgent({ role, department, agent, verdict }: Rule, { who }: DecisionInput): boolean {
  const heads: AgentView[] = verdict === "allow" ? [who] : [who, ...who.ancestors]
  return heads.some(
    (one) =>
      (!agent || agent.includes(one.agent.id)) &&
      (!department || department.some((name) => name === one.department)) &&
      (!role || (one.role.madeBy !== "agent" && role.some((name) => name === one.role.name || name === one.role.id))),
  )
}

/** Step by step from the root. */
function fromRoot(path: string): string {
  const steps: string[] = []
  for (const step of (path.startsWith("/") ? path : `/work/${path}`).split("/")) {
    if (step === "..") steps.pop()
    else if (step !== "" && step !== ".") steps.push(step)
  }
  return `/${steps.join("/")}`
}

const isOutside = (path: string) => !/^\/work(\/|$)/.test(fromRoot(path))

const isOdd = ({ kind, what }: Touch) =>
  (kind === "read" || kind === "write") && (/[~$]/.test(what) || (/(^|\/)\.\.(\/|$)/.test(what) && isOutside(what)))

function fitsTouch(written: string, { kind, what: raw }: Touch, isWide: boolean): boolean {
  const [prefix = "", pattern = ""] = written.split(/:(.*)/s)
  if (prefix === "host") return kind === "host" && glob(pattern, raw.toLowerCase().replace(/\.$/, ""))
  if (prefix === "command") return kind === "command" && glob(pattern, raw)
  if (prefix === "file" ? kind !== "read" && kind !== "write" : kind !== prefix) return false
  if (!pattern.startsWith("/") && isOutside(raw) && !isWide) return false
  const whole = fromRoot(raw)
  const what = pattern.startsWith("/") || isOutside(raw) ? whole : whole.slice("/work/".length) || "."
  const wider = [pattern, ...(pattern.endsWith("/**") ? [pattern.slice(0, -3)] : [])]
  const fits = (one: string) => glob(one, what, true) || glob(one.toLowerCase(), what.toLowerCase(), true)
  return isWide ? wider.some(fits) : glob(pattern, what, true)
}

function valueAt(input: unknown, pointer: string): unknown {
  let value = input
  for (const step of pointer.split("/").slice(1)) {
    const inside = new Map<string, unknown>(typeof value === "object" ? Object.entries(value ?? {}) : [])
    value = inside.get(step.replace("~1", "/").replace("~0", "~"))
  }
  return value
}

/** A rule that allows wants one plain value that certainly fits; any other rule, any part that might. */
function conditionHolds(value: unknown, { above, below, oneOf, not }: ArgumentCondition, isAllow: boolean): boolean {
  const isDeep = typeof value === "object" && value !== null
  const leaves = (one: unknown): unknown[] =>
    typeof one === "object" && one !== null ? Object.values(one).flatMap(leaves) : [one]
  const parts = value === undefined ? [] : isAllow ? (isDeep ? [] : [value]) : leaves(value)
  const excludesOnly = not !== undefined && above === undefined && below === undefined && oneOf === undefined
  if (parts.length === 0) return excludesOnly && !isAllow
  const spelled = (one: unknown) => (typeof one === "string" ? one : JSON.stringify(one))
  const asNumber = (one: unknown) =>
    typeof one === "number" ? one : !isAllow && typeof one === "string" && /\S/.test(one) ? Number(one) : NaN
  const compares = (one: unknown, fits: (number: number) => boolean) =>
    Number.isNaN(asNumber(one)) ? !isAllow && one !== null : fits(asNumber(one))
  const is = (one: unknown, wanted: ArgumentValue, loosely: boolean) =>
    typeof wanted === "string"
      ? glob(wanted, spelled(one))
      : one === wanted || (loosely && (spelled(one) === String(wanted) || (typeof wanted === "number" && typeof one === "string" && /\S/.test(one) && Number(one) === wanted))) // prettier-ignore
  return parts.some(
    (one) =>
      (above === undefined || compares(one, (number) => number > above)) &&
      (below === undefined || compares(one, (number) => number < below)) &&
      (oneOf === undefined || oneOf.some((wanted) => is(one, wanted, !isAllow))) &&
      (not === undefined || ![not].flat().some((wanted) => is(one, wanted as ArgumentValue, isAllow))),
  )
}

function valueTexts(input: unknown, pointer: string, isAllow: boolean): string[] {
  const value = valueAt(input, pointer)
  const texts = (one: unknown): string[] => {
    const own = typeof one === "string" ? one : canonicalJson(one)
    const parts = typeof one === "object" && one !== null ? Object.values(one) : []
    return isAllow ? [own] : [own, ...parts.flatMap(texts)]
  }
  return value === undefined ? [] : texts(value)
}

function holds(rule: Rule, { input, touches, at }: DecisionInput): boolean {
  if (rule.expiresAt !== undefined && at >= new Date(rule.expiresAt).getTime()) return false
  const { list } = touches
  const proved = touches.proved && !list.some(isOdd)
  const isAllow = rule.verdict === "allow"
  const inList = (written: readonly string[], isWide: boolean) => (touch: Touch) =>
    written.some((one) => fitsTouch(one, touch, isWide))
  if (isAllow && !proved) return false
  for (const [pointer, written] of Object.entries(rule.args ?? {})) {
    if (typeof written === "string") {
      if (!valueTexts(input, pointer, isAllow).some((text) => glob(written, text))) return false
    } else if (!conditionHolds(valueAt(input, pointer), written, isAllow)) return false
  }
  if (rule.touching && isAllow && (list.length === 0 || !list.every(inList(rule.touching, false)))) return false
  if (rule.touching && !isAllow && !list.some(inList(rule.touching, true))) return false
  if (rule.except && isAllow && list.some(inList(rule.except, true))) return false
  return !(rule.except && !isAllow && proved && list.length > 0 && list.every(inList(rule.except, false)))
}

const slowly = (rules: readonly Rule[], call: DecisionInput) =>
  rules.filter((rule) => fitsTool(rule, call) && fitsAgent(rule, call) && holds(rule, call))

function isFor(grant: Grant, { who, tool, workspace, sessionId, taskId, at, touches, input }: DecisionInput): boolean {
  const shown = ({ kind, what }: Touch) => grant.touches.some((touch) => touch.kind === kind && touch.what === what)
  const text = ({ kind, what }: Touch) =>
    kind === "command" ? what : kind === "host" ? what.toLowerCase().replace(/\.$/, "") : fromRoot(what)
  const meant = (one: Touch) => grant.touches.some((touch) => touch.kind === one.kind && text(touch) === text(one))
  const { list } = touches
  return (
    grant.agentId === who.agent.id &&
    grant.tool === tool.name &&
    grant.definitionHash === tool.definitionHash &&
    grant.workspace === workspace &&
    (grant.expiresAt === null || at < grant.expiresAt) &&
    (grant.scope.endsWith("session") ? grant.sessionId === sessionId : true) &&
    (grant.scope === "task" ? taskId !== undefined && grant.taskId === taskId : true) &&
    (grant.scope !== "input-session" || grant.inputDigest === sha256(canonicalJson(input))) &&
    (grant.verdict === "allow" ? list.every(shown) : list.length === 0 || list.some(meant))
  )
}

function decideSlowly(call: DecisionInput, rules: readonly Rule[], grants: readonly Grant[], mode: SessionMode) {
  const { tool, touches, limit } = call
  const { level, requireExecutionApproval } = tool.permission
  const said = slowly(
    rules.filter(({ shadow }) => shadow !== true),
    call,
  )
  const remembered = grants.filter((grant) => isFor(grant, call))
  const asking = said.filter(({ verdict }) => verdict === "ask")
  const each = tool.sameNameTools ?? [tool]
  const planned =
    mode === "plan" && each.some(({ effect, kind }) => effect !== "none" && effect !== "read" && kind !== "interactive")
  const terms = {
    approvers: asking.flatMap(({ approvers }) => approvers ?? []),
    deadlineMs: Math.min(...asking.map(({ deadline = Infinity }) => deadline * 60_000)),
    release: ["always", "on-error", undefined].find((when) => asking.some(({ release }) => release === when)),
  }
  const none = { approvers: [], deadlineMs: Infinity, release: undefined }
  if (!limit.ok) return { verdict: "deny", code: "rate_limited", ...none }
  if (said.some(({ verdict }) => verdict === "deny") || planned)
    return { verdict: "deny", code: "permission_denied", ...none }
  if (remembered.some(({ verdict }) => verdict === "deny"))
    return { verdict: "deny", code: "approval_rejected", ...none }
  const { require_confirmation: wish } = call.input as { require_confirmation?: unknown }
  const held = call.findings?.some((finding) => finding.sandboxed === true) ?? false
  const deletes = call.findings?.some((finding) => finding.isLiftable === true) ?? false
  const mayTouch = rules.some(
    (rule) =>
      rule.verdict !== "allow" &&
      rule.shadow !== true &&
      rule.touching &&
      fitsTool(rule, call) &&
      fitsAgent(rule, call) &&
      holds({ ...rule, touching: undefined }, call),
  )
  const unproved = tool.touches && !touches.proved && (!held || mayTouch)
  const bound = asking.some(({ release }) => release === undefined) || wish === true || unproved
  if (bound) return { verdict: "ask", code: undefined, ...terms }
  const asks =
    deletes ||
    level === "sensitive" ||
    requireExecutionApproval === true ||
    (level === "moderate" && requireExecutionApproval !== false)
  const isFile = ({ kind }: Touch) => kind === "read" || kind === "write"
  const edits =
    mode === "edits" &&
    each.every(({ group, effect }) => group === "workspace" && effect === "write") &&
    touches.proved &&
    !touches.list.some((touch) => isOdd(touch) || (isFile(touch) && isOutside(touch.what)))
  const covered =
    edits ||
    said.some(({ verdict }) => verdict === "allow") ||
    (held && !deletes && requireExecutionApproval !== true && tool.permission.confirmed !== true) ||
    (level !== "sensitive" && remembered.some(({ verdict }) => verdict === "allow"))
  return { verdict: asks && !covered ? "ask" : "allow", code: undefined, ...terms }
}

const comparable = ({ verdict, code, approvers = [], deadlineMs = Infinity, release }: Verdict) => ({
  verdict,
  code,
  approvers,
  deadlineMs,
  release,
})

function found(ruleSet: ReturnType<typeof compileRules>, call: DecisionInput): Rule[] {
  const { deny, ask, allow, shadow } = ruleSet.select(call.tool, call.who)
  return [deny, ask, allow, shadow].flatMap((list) => list.find(call)).map(({ rule }) => rule)
}

const byId = (rules: readonly Rule[]) => rules.map(({ id }) => id).sort()

test("law: what the index finds is what trying every rule finds", () => {
  fc.assert(
    fc.property(
      fc.array(someRule, { maxLength: 60 }),
      fc.array(someFacts, { minLength: 5, maxLength: 5 }),
      (rules, calls) => {
        const ruleSet = compileRules(rules, tools)
        // Twice, because the second time the selection is remembered.
        for (const call of [...calls, ...calls]) expect(byId(found(ruleSet, call))).toEqual(byId(slowly(rules, call)))
      },
    ),
    { numRuns: 200 },
  )
})

test("a thousand rules decide as if each were tried alone, in the order they are written", () => {
  const rules = fc.sample(someRule, { numRuns: 300, seed: 7 })
  const calls = fc.sample(someFacts, { numRuns: 200, seed: 7 })
  const ruleSet = compileRules(rules, tools)
  for (const call of calls) {
    const matching = slowly(rules, call)
    const of = (verdict: string) => matching.filter((rule) => rule.verdict === verdict && rule.shadow !== true)
    const selection = ruleSet.select(call.tool, call.who)
    for (const verdict of ["deny", "ask", "allow"] as const) {
      expect(selection[verdict].find(call).map(({ rule }) => rule)).toEqual(of(verdict))
    }
    expect(selection.shadow.find(call).map(({ rule }) => rule)).toEqual(
      matching.filter(({ shadow }) => shadow === true),
    )
    expect(comparable(decide(call, ruleSet, new GrantIndex(), "ask"))).toEqual(decideSlowly(call, rules, [], "ask"))
  }
  expect(new Set(calls.map((call) => slowly(rules, call).length)).size).toBeGreaterThan(20)
})

const someCase = someFacts.chain((call) =>
  fc.record({ call: fc.constant(call), rules: someRules, grants: someGrantsFor(call), mode: someMode }),
)

test("law: decide says what the design's three steps say", () => {
  const verdicts = new Map<string, number>()
  fc.assert(
    fc.property(someCase, ({ call, rules, grants, mode }) => {
      const verdict = comparable(decide(call, compileRules(rules, tools), new GrantIndex(grants), mode))
      expect(verdict).toEqual(decideSlowly(call, rules, grants, mode))
      const key = `${verdict.verdict} ${verdict.code ?? ""}`
      verdicts.set(key, (verdicts.get(key) ?? 0) + 1)
    }),
    { numRuns: 500, seed: 1 },
  )
  const rare = ["allow ", "ask ", "deny rate_limited", "deny permission_denied", "deny approval_rejected"]
  expect(rare.filter((key) => (verdicts.get(key) ?? 0) < 20)).toEqual([])
})

test("law: what visibly deletes in the sandbox asks as the tool's level does, and nothing else changes", () => {
  const verdicts = new Map<string, number>()
  fc.assert(
    fc.property(someCase, fc.boolean(), ({ call: some, rules, grants, mode }, proved) => {
      const tool = { ...some.tool, touches: () => [] }
      const call = { ...some, tool, touches: { ...some.touches, proved }, limit: { ok: true as const } }
      const ruleSet = compileRules(rules, tools)
      const verdict = comparable(decide(deletingCall(call), ruleSet, new GrantIndex(grants), mode))
      expect(verdict).toEqual(decideSlowly(deletingCall(call), rules, grants, mode))
      const { verdict: held } = decide(heldCall(call), ruleSet, new GrantIndex(grants), mode)
      if (verdict.verdict !== held) expect([held, verdict.verdict]).toEqual(["allow", "ask"])
      const key = `${held} ${verdict.verdict}`
      verdicts.set(key, (verdicts.get(key) ?? 0) + 1)
    }),
    { numRuns: 500, seed: 4 },
  )
  expect(["allow ask", "allow allow", "ask ask", "deny deny"].filter((key) => (verdicts.get(key) ?? 0) < 20)).toEqual(
    [],
  )
})

test("law: what bubblewrap holds is decided as the design says", () => {
  const verdicts = new Map<string, number>()
  fc.assert(
    fc.property(someCase, ({ call: some, rules, grants, mode }) => {
      const tool = { ...some.tool, touches: () => [] }
      const call = { ...some, tool, touches: { ...some.touches, proved: false }, limit: { ok: true as const } }
      const held = heldCall(call)
      const ruleSet = compileRules(rules, tools)
      const verdict = comparable(decide(held, ruleSet, new GrantIndex(grants), mode))
      expect(verdict).toEqual(decideSlowly(held, rules, grants, mode))
      const before = decide(call, ruleSet, new GrantIndex(grants), mode)
      if (before.verdict === "deny") expect(verdict.verdict).toBe("deny")
      if (verdict.verdict !== before.verdict) expect([before.verdict, verdict.verdict]).toEqual(["ask", "allow"])
      const key = `${before.verdict} ${verdict.verdict}`
      verdicts.set(key, (verdicts.get(key) ?? 0) + 1)
    }),
    { numRuns: 500, seed: 4 },
  )
  expect(["ask allow", "ask ask", "deny deny"].filter((key) => (verdicts.get(key) ?? 0) < 20)).toEqual([])
})
