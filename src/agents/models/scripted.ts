import { readFile } from "node:fs/promises"
import { errorMessage } from "../../lib/error-message.ts"
import { ModelError } from "./model-error.ts"
import type { LanguageModel, ModelMessage, ModelPart, ModelRequest, ProviderMetadata, ToolResultPart } from "./port.ts"
import { waitFor } from "./retry.ts"
import type { Condition, Script, Step, TurnStep } from "./script.ts"

/**
 * A model that plays a YAML file. Where a conversation stands is written into its own messages, so one script serves
 * many conversations at once and goes on after a restart.
 */
export function scripted(file: string, wait: typeof waitFor = waitFor): LanguageModel["stream"] {
  let script: Promise<Script> | undefined
  const forget = (error: unknown) => {
    script = undefined
    throw error
  }
  return async function* (request) {
    const { turn, next } = nextTurn(await (script ??= load(file).catch(forget)), request)
    yield* play(turn, { scripted: { next } }, request, wait)
  }
}

async function load(file: string): Promise<Script> {
  let content: string
  try {
    content = await readFile(file, "utf8")
  } catch (error) {
    throw new ModelError("bad_script", `The script ${file} cannot be read: ${errorMessage(error)}. Correct its path.`)
  }
  const { readScript } = await import("./script.ts")
  return readScript(file, content)
}

/** The next turn of a conversation, and where the script goes on after it. */
function nextTurn(script: Script, { messages }: ModelRequest): { turn: TurnStep; next: string } {
  const facts = factsOf(messages)
  const answer = script.answers?.find(({ to }) => facts.results.length === 0 && includes(facts.user, to))
  if (answer !== undefined) return { turn: answer, next: facts.position.join("/") }
  const found = walk(script.steps, facts.position, ["steps"], { script, ...facts })
  if (found === undefined) return { turn: { say: "The script has ended." }, next: String(script.steps.length) }
  return { turn: found.turn, next: found.next.join("/") }
}

interface Facts {
  /** Indexes of the next step: of the list, of the chosen case of a branch there, of its list, and so on. */
  position: number[]
  /** The results since the last answer. */
  results: readonly ToolResultPart[]
  /** The user's last words. */
  user: string
}

function factsOf(messages: readonly ModelMessage[]): Facts {
  const last = messages.findLastIndex(({ role }) => role === "assistant")
  const marks = messages.flatMap((message) =>
    message.role === "assistant"
      ? message.content.map(({ providerMetadata }) => providerMetadata?.["scripted"]?.["next"])
      : [],
  )
  const mark = marks.findLast((one) => typeof one === "string") ?? ""
  return {
    position: mark === "" ? [] : (mark as string).split("/").map(Number),
    results: messages.slice(last + 1).flatMap((message) => (message.role === "tool" ? message.content : [])),
    user: messages.findLast((message) => message.role === "user")?.content ?? "",
  }
}

type Place = readonly (string | number)[]

/** Follows the steps from a position on until one is a turn. */
function walk(
  steps: readonly Step[],
  [start = 0, chosen, ...inner]: readonly number[],
  place: Place,
  facts: Facts & { script: Script },
): { turn: TurnStep; next: number[] } | undefined {
  for (let index = start; index < steps.length; index++) {
    const step = steps[index]!
    const here = [...place, index]
    if (step.expect !== undefined) requireResult(step.expect, here, facts)
    else if (step.branch === undefined) return { turn: step, next: [index + 1] }
    else {
      const isInside = index === start && chosen !== undefined
      const which = isInside ? chosen : step.branch.findIndex(({ when }) => when === undefined || holds(when, facts))
      const list = step.branch[which]?.steps ?? []
      const found = walk(list, isInside ? inner : [], [...here, "branch", which, "steps"], facts)
      if (found !== undefined) return { ...found, next: [index, which, ...found.next] }
    }
  }
  return undefined
}

function holds({ tool, contains, error, user }: Condition, facts: Facts): boolean {
  if (user !== undefined && !includes(facts.user, user)) return false
  if (tool === undefined && contains === undefined && error === undefined) return true
  return facts.results.some(
    (result) =>
      (tool === undefined || result.name === tool) &&
      (contains === undefined || includes(result.output, contains)) &&
      (error === undefined || (result.isError ?? false) === error),
  )
}

function requireResult(expected: Condition, place: Place, facts: Facts & { script: Script }): void {
  if (holds(expected, facts)) return
  const came = facts.results.map(
    ({ name, output, isError }) => `${name}${isError ? " failed with" : " gave"}: ${output.slice(0, 200)}`,
  )
  throw new ModelError(
    "script_failed",
    `${facts.script.placeOf(place)}: The script expects ${JSON.stringify(expected)}, and that did not come. Correct this line, or the calls before it. ${came.length === 0 ? "There was no result." : came.join("; ")}`,
  )
}

function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase())
}

async function* play(
  { say, think, call, delay, pace, usage }: TurnStep,
  providerMetadata: ProviderMetadata,
  { toolChoice, signal = new AbortController().signal }: ModelRequest,
  wait: typeof waitFor,
): AsyncIterable<ModelPart> {
  if (delay !== undefined) await wait(delay, signal)
  const calls = toolChoice === "none" ? [] : [call ?? []].flat().flatMap((one) => Object.entries(one))
  if (think !== undefined) yield { type: "reasoning", block: "think", text: think }
  const text = say ?? (calls.length === 0 ? "The script cannot go on without tools." : "")
  for (const piece of text.match(/\S+\s*|\s+/g) ?? []) {
    if (pace !== undefined) await wait(pace, signal)
    signal.throwIfAborted()
    yield { type: "text", block: "say", text: piece }
  }
  yield { type: "text", block: "say", text: "", providerMetadata }
  for (const [name, input] of calls) yield { type: "tool-call", id: "", name, input: JSON.stringify(input ?? {}) }
  if (usage !== undefined) {
    const { input: inputTokens, output: outputTokens, cached } = usage
    yield {
      type: "usage",
      usage: { inputTokens, outputTokens, ...(cached === undefined ? {} : { cachedTokens: cached }) },
    }
  }
  yield { type: "finish", reason: calls.length > 0 ? "tool-calls" : "stop" }
}
