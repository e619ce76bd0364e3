import { nearestName } from "../../lib/nearest-name.ts"
import { inputName, maxSteps, type PipelineDefinition, type PipelineStep } from "./definition.ts"
import { conditionReferences, nestedConditions, referencesIn, type Path, type Reference } from "./references.ts"

/** A step and what it runs after. */
export interface GraphStep {
  definition: PipelineStep
  /** Where it stands in the list of steps. */
  position: number
  /** The steps that must have ended before it begins. */
  after: readonly string[]
  /** Those of them that must have succeeded. */
  needs: readonly string[]
}

export interface GraphProblem {
  path: Path
  sentence: string
}

export interface Graph {
  /** In an order in which every step comes after those it waits for. */
  steps: readonly GraphStep[]
  /** The same by number: a step is one wave after the last of those it waits for. */
  waves: readonly (readonly string[])[]
}

/** The order of the steps, or everything that is wrong with how they refer to each other. */
export function graphOf(definition: PipelineDefinition): Graph | { problems: GraphProblem[] } {
  const { steps } = definition
  if (steps.length > maxSteps) return { problems: [{ path: ["steps"], sentence: tooManySteps(steps.length) }] }
  const problems = duplicateIds(steps)
  const ids = new Set(steps.map(({ id }) => id))
  const note = ({ path, sentence }: GraphProblem) => void problems.push({ path, sentence })
  const nodes = steps.map((step, position): GraphStep => {
    const path = ["steps", position]
    const input = referencesIn(step.input, [...path, "input"])
    const fallback = referencesIn(step.fallback?.input, [...path, "fallback", "input"])
    const when = step.when === undefined ? noneFound : conditionReferences(step.when, [...path, "when"])
    for (const found of [input, fallback, when]) found.problems.forEach(note)
    const references = [...input.references, ...fallback.references, ...when.references]
    const named = [...namedSteps(step, path), ...references.filter(({ step: id }) => id !== inputName)]
    for (const one of named) if (!ids.has(one.step)) note(missingStep(one, `Step '${step.id}'`, ids))
    for (const one of references) noteMissingInput(one, `Step '${step.id}'`, definition, note)
    const required = input.references.filter(({ hasDefault, step: id }) => !hasDefault && id !== inputName)
    return {
      definition: step,
      position,
      after: [...new Set(named.map(({ step: id }) => id))],
      needs: [...new Set([...(step.needs ?? []), ...required.map(({ step: id }) => id)])],
    }
  })
  const outputs = referencesIn(definition.outputs, ["outputs"])
  outputs.problems.forEach(note)
  for (const one of outputs.references) {
    if (one.step === inputName) noteMissingInput(one, "An output", definition, note)
    else if (!ids.has(one.step)) note(missingStep(one, "An output", ids))
  }
  if (problems.length > 0) return { problems }
  return inOrder(nodes)
}

export function tooManySteps(count: number): string {
  return `A pipeline has at most ${maxSteps} steps, and this one has ${count}. Split it, or let one tool do more of the work.`
}

const noneFound = { references: [], problems: [] }

function duplicateIds(steps: readonly PipelineStep[]): GraphProblem[] {
  const isRepeated = ({ id }: PipelineStep, position: number) => steps.findIndex((other) => other.id === id) < position
  return steps.flatMap((step, position) => {
    const sentence = `Two steps have the id '${step.id}'. Give one of them another id.`
    return isRepeated(step, position) ? [{ path: ["steps", position, "id"], sentence }] : []
  })
}

/** The steps that a step names without taking a value of them. */
function namedSteps(step: PipelineStep, path: Path): { step: string; path: Path }[] {
  const needs = (step.needs ?? []).map((id, index) => ({ step: id, path: [...path, "needs", index] }))
  if (step.when === undefined) return needs
  const asked = nestedConditions(step.when, [...path, "when"]).flatMap(({ condition, path: at }) =>
    condition.step === undefined ? [] : [{ step: condition.step, path: [...at, "step"] }],
  )
  return [...needs, ...asked]
}

function missingStep({ step, path }: { step: string; path: Path }, who: string, ids: Iterable<string>): GraphProblem {
  const guess = nearestName(step, ids)
  const help = guess === undefined ? "Correct the id, or add the step." : `Did you mean '${guess}'?`
  return { path, sentence: `${who} refers to step '${step}', and there is no such step. ${help}` }
}

function noteMissingInput(
  { step, pointer: [name], path }: Reference,
  who: string,
  { input = {} }: PipelineDefinition,
  note: (problem: GraphProblem) => void,
): void {
  if (step !== inputName || name === undefined || Object.hasOwn(input, name)) return
  const guess = nearestName(name, Object.keys(input))
  const help = guess === undefined ? `Add it: input: { ${name}: {} }.` : `Did you mean '${guess}'?`
  note({ path, sentence: `${who} takes the input '${name}', which the pipeline does not have. ${help}` })
}

/** Takes away the steps that wait for nothing, again and again. What is left waits in a circle. */
function inOrder(nodes: readonly GraphStep[]): Graph | { problems: GraphProblem[] } {
  const waveOf = new Map<string, number>()
  const steps: GraphStep[] = []
  let left = nodes
  for (let wave = 0; left.length > 0; wave++) {
    const free = left.filter(({ after }) => after.every((id) => waveOf.has(id)))
    if (free.length === 0) return { problems: [circleProblem(left)] }
    for (const node of free) steps.push(node)
    // Only now: steps of one wave do not wait for each other.
    for (const { definition } of free) waveOf.set(definition.id, wave)
    const isFree = new Set(free)
    left = left.filter((node) => !isFree.has(node))
  }
  const waves: string[][] = []
  for (const [id, wave] of waveOf) (waves[wave] ??= []).push(id)
  return { steps, waves }
}

function circleProblem(left: readonly GraphStep[]): GraphProblem {
  const byId = new Map(left.map((node) => [node.definition.id, node]))
  const path: string[] = []
  let id = left[0]!.definition.id
  while (!path.includes(id)) {
    path.push(id)
    // Every step that is left waits for another one that is left.
    id = byId.get(id)!.after.find((other) => byId.has(other))!
  }
  const circle = path.slice(path.indexOf(id))
  const start = circle[0]!
  const sentence =
    circle.length === 1
      ? `Step '${start}' refers to itself. Take that reference away.`
      : `Steps wait for each other in a circle: ${[...circle, start].join(" → ")}. Take one of these references away.`
  return { path: ["steps", byId.get(start)!.position], sentence }
}
