import { canonicalJson } from "../../lib/canonical-json.ts"
import type { AgentTools } from "../../registry/agent-tools.ts"
import type { Why } from "../../policy/explanation.ts"
import type { Explanation, WhyRequest } from "../../policy/explanation.ts"
import { pathText } from "../../schema/problems.ts"
import { inputName, type PipelineStep } from "./definition.ts"
import type { PipelineProblem, ReadPipeline } from "./read-definition.ts"
import { expandReferences, fillReferences, referencesIn, type Path } from "./references.ts"
import { standIn } from "./stand-ins.ts"

type Parts = Required<ReadPipeline>["parts"]

/** The parts of the app that a check needs. */
export type CheckApp = Pick<AgentTools, "inputSchemaOf"> & { why: Why }

/** The agent that makes the calls, and its limits. */
export type CheckedAgent = Omit<WhyRequest, "tool" | "input">

export interface StepVerdict {
  /** `open`: nothing can be said before other steps have run. */
  verdict: Explanation["verdict"] | "open"
  /** Why it asks or is denied. */
  reason?: string
  /** The steps whose results decide what it touches, so that the verdict may be another one once they are known. */
  dependsOn?: readonly string[]
}

export interface CheckedSteps {
  verdicts: ReadonlyMap<string, StepVerdict>
  problems: readonly PipelineProblem[]
}

/**
 * Decides about every step without calling it, as far as its input is known before the others have run. Of `wrongSteps` the
 * input is not checked: something is wrong with them already.
 */
export async function checkSteps(
  { definition: { steps }, placeOf, wrongSteps }: Pick<Parts, "definition" | "placeOf" | "wrongSteps">,
  app: CheckApp,
  who: CheckedAgent,
  given: Readonly<Record<string, unknown>>,
): Promise<CheckedSteps> {
  const verdicts = new Map<string, StepVerdict>()
  const problems: PipelineProblem[] = []
  for (const [position, step] of steps.entries()) {
    const path = ["steps", position]
    for (const call of callsOf(step, path).filter(({ tool }) => tool !== "")) {
      const { refused, ...verdict } = await judgeCall(call, app, who, given)
      if (!call.isFallback) verdicts.set(step.id, verdict)
      if (refused === undefined) continue
      const { kind, key, sentences } = refused
      if (key === "input" && wrongSteps.has(position)) continue
      const about = `Step '${step.id}'${call.isFallback ? ", its fallback" : ""}`
      const place = placeOf([...call.path, key])
      for (const sentence of sentences) problems.push({ place, sentence: `${about}: ${sentence}`, kind, step: step.id })
    }
  }
  return { verdicts, problems }
}

interface StepCall {
  tool: string
  input: Readonly<Record<string, unknown>>
  path: Path
  isFallback: boolean
}

/** The calls that a step may make. */
function callsOf({ tool, input = {}, fallback }: PipelineStep, path: Path): StepCall[] {
  const own = { tool, input, path, isFallback: false }
  if (fallback?.tool === undefined) return [own]
  const other = { tool: fallback.tool, input: fallback.input ?? {}, path: [...path, "fallback"], isFallback: true }
  return [own, other]
}

type Judged = StepVerdict & { refused?: Refusal }

interface Refusal {
  kind: PipelineProblem["kind"]
  /** The key of the call that is to blame. */
  key: "tool" | "input"
  sentences: readonly string[]
}

async function judgeCall(
  { tool, input: template }: StepCall,
  app: CheckApp,
  who: CheckedAgent,
  given: Readonly<Record<string, unknown>>,
): Promise<Judged> {
  // The input of the pipeline is known, so only references to steps are left.
  const input = fillReferences(template, inputName, given)
  const { references } = referencesIn(input, [])
  if (references.length === 0) {
    const literal = expandReferences(input, () => ({ missing: "" }))
    const explained = await app.why({ ...who, tool, input: "value" in literal ? literal.value : input })
    return explained.verdict === "deny" ? denied(explained) : judged(explained)
  }
  const schema = app.inputSchemaOf(who.agentId, tool)
  const ask = (variant: "one" | "other") => app.why({ ...who, tool, input: standIn(input, schema, variant) })
  const [one, other] = [await ask("one"), await ask("other")]
  const open: Judged = { verdict: "open", dependsOn: [...new Set(references.map(({ step }) => step))] }
  if (one.verdict !== "deny") {
    if (other.verdict !== one.verdict) return open
    return touchSame(one, other) ? judged(one) : { ...judged(one), dependsOn: open.dependsOn }
  }
  if (one.code === "invalid_arguments") {
    const known = certainProblems(
      one.problems ?? [],
      references.map(({ path }) => path),
    )
    return known.length > 0 ? denied({ ...one, problems: known }) : open
  }
  // Denied whatever the references give: for who asks, or for what the input itself says.
  return isAboutTool.has(one.code) || isSameDenial(one, other) ? denied(one) : open
}

const isAboutTool: ReadonlySet<string | undefined> = new Set(["unknown_tool", "tool_not_available", "frozen"])

function isSameDenial(one: Explanation, other: Explanation): boolean {
  const said = ({ verdict, code, reasons }: Explanation) =>
    canonicalJson([verdict, code ?? null, reasons.map(({ sentence }) => sentence)])
  return one.touches.proved && touchSame(one, other) && said(one) === said(other)
}

function touchSame(one: Explanation, other: Explanation): boolean {
  return canonicalJson(one.touches.list) === canonicalJson(other.touches.list)
}

function judged({ verdict, reasons: [first] }: Explanation): Judged {
  return verdict === "ask" ? { verdict, reason: first?.sentence } : { verdict }
}

function denied({ code, reasons, change, problems }: Explanation): Judged {
  if (code === "invalid_arguments" && problems !== undefined) {
    const sentences = problems.map((problem) => `${problem.replace(/\.$/, "")}.`)
    return { verdict: "deny", reason: sentences.join(" "), refused: { kind: "invalid", key: "input", sentences } }
  }
  const [reason] = reasons
  const sentence = reason?.sentence ?? "The call would be denied."
  const isUnknown = code === "unknown_tool"
  const help = isUnknown || change[0] === undefined ? "" : ` To change this: ${change[0]}`
  const said = isUnknown ? sentence : `it would be denied. ${sentence}${help}`
  return {
    verdict: "deny",
    reason: sentence,
    refused: { kind: isUnknown ? "invalid" : "denied", key: "tool", sentences: [said] },
  }
}

/** The problems of an input that are not about a place where a reference stands. */
function certainProblems(problems: readonly string[], references: readonly Path[]): string[] {
  const places = references.map(pathText)
  return problems.filter((problem) => {
    const about = /^(?:Missing required parameter: (.+)|(?:Unknown parameter|Parameter) '(.+?)')/.exec(problem)
    const place = about?.[1] ?? about?.[2]
    if (place === undefined || place === "input") return false
    return !places.some((each) => isWithin(each, place) || isWithin(place, each))
  })
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(`${outer}.`) || inner.startsWith(`${outer}[`)
}
