import { isValueTooDeep } from "../../lib/json-depth.ts"
import { nearestName } from "../../lib/nearest-name.ts"
import { pathText } from "../../schema/problems.ts"
import { schemaProblems } from "../../schema/schema-problems.ts"
import { readYaml } from "../../schema/yaml.ts"
import { definitionSchema, knownKeys, maxSteps, type PipelineDefinition } from "./definition.ts"
import { graphOf, tooManySteps, type Graph } from "./graph.ts"
import type { Path } from "./references.ts"
import { withoutWrongParts } from "./without-wrong-parts.ts"

/** Something that keeps a pipeline from running. */
export interface PipelineProblem {
  /** Its place: `report.yml:7`, or the path in the definition: `steps[1].input`. */
  place: string
  sentence: string
  /** `denied`: a step may not be called by this agent. `invalid`: the pipeline or its input is wrong. */
  kind: "invalid" | "denied"
  /** The step it is about. */
  step?: string
}

/** A pipeline as an object, or as the text of a YAML or JSON file. */
export type PipelineSource = PipelineDefinition | { yaml: string; file?: string }

/** Says where a part of the definition stands. */
export type PlaceOf = (path: Path, what?: "key" | "value") => string

export interface ReadPipeline {
  problems: PipelineProblem[]
  /** The parts that can be checked further, also when there are problems. Undefined when there are none. */
  parts?: {
    definition: PipelineDefinition
    /** The order of the steps, if there are no problems. */
    graph: Graph
    placeOf: PlaceOf
    /** The positions of the steps in which something is wrong already, so that their inputs need no second problem. */
    wrongSteps: ReadonlySet<unknown>
    /** True if the inputs that the pipeline takes are not known, because something is wrong with them. */
    lacksInput: boolean
  }
}

/** Reads a pipeline and finds every problem that can be found without the app: keys, ids, references, circles. */
export function readPipeline(source: PipelineSource): ReadPipeline {
  const { value, placeOf, broken } = sourceOf(source)
  if (broken.length > 0) return { problems: broken }
  const problem = (path: Path, sentence: string, what?: "key" | "value"): PipelineProblem => ({
    place: placeOf(path, what),
    sentence,
    kind: "invalid",
  })
  if (isValueTooDeep(value))
    return { problems: [problem([], "The pipeline is nested too deeply. Write fewer levels.")] }
  const count = stepCount(value)
  if (count > maxSteps) return { problems: [problem(["steps"], tooManySteps(count))] }
  const { data, error } = definitionSchema.safeParse(value)
  const issues = error?.issues ?? []
  const wrongKeys = schemaProblems(issues, { noun: "pipeline", value, known: knownKeys })
  const problems = wrongKeys.map(({ path, what, sentence }) => problem(path, sentence, what))
  const definition = data ?? withoutWrongParts(value, issues)
  if (definition === undefined) return { problems }
  const lacksInput = issues.some(({ path }) => path[0] === "input")
  const { problems: wrongReferences, ...graph } = graphOf(definition, { lacksInput })
  problems.push(...wrongReferences.map(({ path, sentence }) => problem(path, sentence)))
  const ofInputs = wrongReferences.filter(({ path: [, , key] }) => key === "input" || key === "fallback")
  const wrongSteps = new Set(
    [...issues, ...ofInputs].map(({ path: [first, at] }) => (first === "steps" ? at : undefined)),
  )
  return { problems, parts: { definition, graph, placeOf, wrongSteps, lacksInput } }
}

/** In the order of their lines. */
export function byLine(problems: readonly PipelineProblem[]): PipelineProblem[] {
  const lineOf = ({ place }: PipelineProblem) => Number(/:(\d+)$/.exec(place)?.[1] ?? 0)
  return problems.toSorted((one, other) => lineOf(one) - lineOf(other))
}

function sourceOf(source: PipelineSource): { value: unknown; placeOf: PlaceOf; broken: PipelineProblem[] } {
  if (!isYaml(source)) return { value: source, placeOf: pathPlace, broken: [] }
  const { yaml: text, file = "pipeline" } = source
  const yaml = readYaml(text)
  const broken = yaml.problems.map(({ line, sentence }) => ({
    place: `${file}:${line}`,
    sentence,
    kind: "invalid" as const,
  }))
  const placeOf: PlaceOf = (path, what) => `${file}:${yaml.placeOf(path, what).line}`
  return { value: yaml.value, placeOf, broken }
}

function isYaml(source: PipelineSource): source is { yaml: string; file?: string } {
  return typeof source === "object" && source !== null && "yaml" in source && typeof source.yaml === "string"
}

const pathPlace: PlaceOf = (path) => pathText(path) || "pipeline"

function stepCount(value: unknown): number {
  const steps = (value as { steps?: unknown } | null | undefined)?.steps
  return Array.isArray(steps) ? steps.length : 0
}

/** Returns the input of the pipeline, with its defaults; or its problems. */
export function readGiven(
  { definition: { input = {} }, placeOf, lacksInput }: Required<ReadPipeline>["parts"],
  given: Readonly<Record<string, unknown>>,
): { values: Record<string, unknown>; problems: PipelineProblem[] } {
  const names = Object.keys(input)
  const problems: PipelineProblem[] = []
  if (lacksInput) return { values: {}, problems }
  const note = (sentence: string, place = placeOf(["input"])) => problems.push({ place, sentence, kind: "invalid" })
  for (const name of Object.keys(given).filter((each) => !names.includes(each))) {
    const guess = nearestName(name, names)
    const known = names.length === 0 ? "It takes none." : `It takes: ${names.join(", ")}.`
    note(`The pipeline has no input '${name}'. ${guess === undefined ? known : `Did you mean '${guess}'?`}`)
  }
  const values = Object.entries(input).map(([name, { default: fallback }]) => {
    if (!Object.hasOwn(given, name) && fallback === undefined)
      note(`The input '${name}' has no default and was not given. Give it.`, placeOf(["input", name], "key"))
    return [name, Object.hasOwn(given, name) ? given[name] : fallback]
  })
  return { values: Object.fromEntries(values) as Record<string, unknown>, problems }
}
