import { nearestName } from "../../lib/nearest-name.ts"
import { inputName, maxSteps, type PipelineDefinition, type PipelineStep } from "./definition.ts"
import { conditionReferences, nestedConditions, referencesIn, type Path, type Reference } from "./references.ts"

/** A step and what it runs after. */
export interface GraphStep {
  definition: PipelineStep
  /** Its position in the list of steps. */
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

/**
 * The order of the steps, and everything that is wrong with how they refer to each other. `lacksInput`: which inputs the
 * pipeline takes is not known.
 */
export function graphOf(
  definition: PipelineDefinition,
  { lacksInput = false } = {},
): Graph & { problems: GraphProblem[] } {
  const { steps } = definition
  const problems = duplicateIds(steps)
  const ids = new Set(steps.map(({ id }) => id))
  // Where a step lacks its id, any reference may be to that one.
  const lacksIds = steps.some(({ id }) => id.startsWith("#"))
  const isMissing = ({ step: id }: { step: string }) => !lacksIds && !ids.has(id)
  const note = ({ path, sentence }: GraphProblem) => void problems.push({ path, sentence })
  const nodes = steps.map((step, position): GraphStep => {
    const path = ["steps", position]
    const input = referencesIn(step.input, [...path, "input"])
    const fallback = referencesIn(step.fallback?.input, [...path, "fallback", "input"])
    const when = step.when === undefined ? noneFound : conditionReferences(step.when, [...path, "when"])
    for (const found of [input, fallback, when]) found.problems.forEach(note)
    const references = [...input.references, ...fallback.references, ...when.references]
    const named = [...namedSteps(step, path), ...references.filter(({ step: id }) => id !== inputName)]
    const who = `Step '${step.id}'`
    for (const one of named) if (isMissing(one)) note(missingStep(one, who, ids))
    for (const one of references) if (!lacksInput) noteMissingInput(one, who, definition, note)
    const required = input.references.filter(({ hasDefault, step: id }) => !hasDefault && id !== inputName)
    return {
      definition: step,
      position,
      after: [...new Set(named.map(({ step: id }) => id).filter((id) => ids.has(id)))],
      needs: [...new Set([...(step.needs ?? []), ...required.map(({ step: id }) => id)])],
    }
  })
  const outputs = referencesIn(definition.outputs, ["outputs"])
  outputs.problems.forEach(note)
  for (const one of outputs.references) {
    if (one.step !== inputName && isMissing(one)) note(missingStep(one, "An output", ids))
    else if (!lacksInput) noteMissingInput(one, "An output", definition, note)
  }
  const { circles, ...graph } = inOrder(nodes)
  return { ...graph, problems: [...problems, ...circles] }
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

/** Takes away the steps that wait for nothing, again and again. Where none is left that does, there is a circle. */
function inOrder(nodes: readonly GraphStep[]): Graph & { circles: GraphProblem[] } {
  const waveOf = new Map<string, number>()
  const steps: GraphStep[] = []
  const circles: GraphProblem[] = []
  let left = nodes
  for (let wave = 0; left.length > 0; wave++) {
    let free = left.filter(({ after }) => after.every((id) => waveOf.has(id)))
    if (free.length === 0) {
      free = circleIn(left)
      circles.push(circleProblem(free))
    }
    for (const node of free) steps.push(node)
    // Only now: steps of one wave do not wait for each other.
    for (const { definition } of free) waveOf.set(definition.id, wave)
    const isFree = new Set(free)
    left = left.filter((node) => !isFree.has(node))
  }
  const waves: string[][] = []
  for (const [id, wave] of waveOf) (waves[wave] ??= []).push(id)
  return { steps, waves, circles }
}

/** Steps that wait for each other in a circle: every step that is left waits for another one that is left. */
function circleIn(left: readonly GraphStep[]): GraphStep[] {
  const byId = new Map(left.map((node) => [node.definition.id, node]))
  const path: GraphStep[] = []
  let node = left[0]!
  while (!path.includes(node)) {
    path.push(node)
    node = byId.get(node.after.find((id) => byId.has(id))!)!
  }
  return path.slice(path.indexOf(node))
}

function circleProblem(circle: readonly GraphStep[]): GraphProblem {
  const ids = circle.map(({ definition: { id } }) => id)
  const sentence =
    circle.length === 1
      ? `Step '${ids[0]}' refers to itself. Take that reference away.`
      : `Steps wait for each other in a circle: ${[...ids, ids[0]].join(" → ")}. Take one of these references away.`
  return { path: ["steps", circle[0]!.position], sentence }
}
