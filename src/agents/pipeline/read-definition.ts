import { isValueTooDeep } from "../../lib/json-depth.ts"
import { nearestName } from "../../lib/nearest-name.ts"
import { pathText } from "../../schema/problems.ts"
import { schemaProblems } from "../../schema/schema-problems.ts"
import { readYaml } from "../../schema/yaml.ts"
import { definitionSchema, knownKeys, maxSteps, type PipelineDefinition } from "./definition.ts"
import { graphOf, tooManySteps, type Graph } from "./graph.ts"
import type { Path } from "./references.ts"

/** Something that keeps a pipeline from running. */
export interface PipelineProblem {
  /** Where it is: `report.yml:7`, or the path in the definition: `steps[1].input`. */
  place: string
  sentence: string
  /** `denied`: a step may not be called by this agent. `invalid`: the pipeline or its input is wrong. */
  kind: "invalid" | "denied"
  /** The step it is about. */
  step?: string | undefined
}

/** A pipeline as an object, or as the text of a YAML or JSON file. */
export type PipelineSource = PipelineDefinition | { yaml: string; file?: string | undefined }

/** Says where a part of the definition stands. */
export type PlaceOf = (path: Path, what?: "key" | "value") => string

export type ReadPipeline =
  | { definition: PipelineDefinition; graph: Graph; placeOf: PlaceOf; problems?: undefined }
  | { problems: PipelineProblem[] }

/** Reads a pipeline and checks everything that needs no app: keys, ids, references, circles. */
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
  const parsed = definitionSchema.safeParse(value)
  if (!parsed.success) {
    const found = schemaProblems(parsed.error.issues, { noun: "pipeline", value, known: knownKeys })
    return { problems: found.map(({ path, what, sentence }) => problem(path, sentence, what)) }
  }
  const definition = parsed.data
  const graph = graphOf(definition)
  if (!("problems" in graph)) return { definition, graph, placeOf }
  return { problems: graph.problems.map(({ path, sentence }) => problem(path, sentence)) }
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

function isYaml(source: PipelineSource): source is { yaml: string; file?: string | undefined } {
  return typeof source === "object" && source !== null && "yaml" in source && typeof source.yaml === "string"
}

const pathPlace: PlaceOf = (path) => pathText(path) || "pipeline"

function stepCount(value: unknown): number {
  const steps = (value as { steps?: unknown } | null | undefined)?.steps
  return Array.isArray(steps) ? steps.length : 0
}

/** What the pipeline is given, with its defaults; or what is wrong with it. */
export function readGiven(
  { input = {} }: PipelineDefinition,
  given: Readonly<Record<string, unknown>>,
  placeOf: PlaceOf,
): { values: Record<string, unknown>; problems: PipelineProblem[] } {
  const names = Object.keys(input)
  const problems: PipelineProblem[] = []
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
