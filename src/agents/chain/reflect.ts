import type { AgentTools } from "../../registry/agent-tools.ts"
import type { CallableTool, ReflectedAction, Reflection, ReflectionInput, Reflector } from "../reflection/reflector.ts"
import { ruleReflector } from "../reflection/rules.ts"
import { currentRun, type ChainTurn, type CallResult } from "../context/turns.ts"

/** The run that a reflection of a chain is about. */
interface FailedRun {
  app: Pick<AgentTools, "visibleTool">
  agentId: string
  turns: readonly ChainTurn[]
  /** The tools the model is offered, by the names it knows. */
  offered: readonly string[]
  signal: AbortSignal
}

/**
 * Decides how to go on after the last calls; undefined when the run is stopped meanwhile. A reflector that fails is
 * replaced by our rules, and reported.
 */
export async function reflectOn(
  failed: FailedRun,
  reflector: Reflector,
  onError: (error: unknown) => void,
): Promise<Reflection | undefined> {
  const { signal } = failed
  const input = inputFor(failed)
  try {
    const reflection = await Promise.race([reflector.reflect(input), stopped(signal)])
    if (signal.aborted || reflection === undefined) return undefined
    if (verdicts.has(reflection.verdict)) return reflection
    throw new TypeError(`A reflector must decide complete, continue or replan, and not ${String(reflection.verdict)}.`)
  } catch (error) {
    if (signal.aborted) return undefined
    onError(error)
    return ruleReflector.reflect(input)
  }
}

function stopped(signal: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    signal.addEventListener("abort", () => resolve(undefined), { once: true })
  })
}

const verdicts = new Set<unknown>(["complete", "continue", "replan"])

/** The tools that are not offered any more in this run. The next message of a person brings them back. */
export function toolsGivenUp(turns: readonly ChainTurn[]): ReadonlySet<string> {
  let names: Set<string> | undefined
  for (const turn of currentRun(turns)) {
    if (turn.kind !== "reflection") continue
    names ??= new Set()
    for (const name of turn.body.withoutTools ?? []) names.add(name)
  }
  return names ?? none
}

const none: ReadonlySet<string> = new Set()

function inputFor({ app, agentId, turns, offered, signal }: FailedRun): ReflectionInput {
  const run = currentRun(turns)
  const ownName = (name: string) => app.visibleTool(agentId, name)?.name ?? name
  // The model may call a tool by another name than the one it is offered by.
  const offeredAs = new Map(offered.map((name) => [ownName(name), name]))
  const asAction = ({ ref, name, isError, text, code, transient }: CallResult): ReflectedAction => {
    const toolName = offered.includes(name) ? name : (offeredAs.get(ownName(name)) ?? name)
    return { stepId: ref, toolName, success: !isError, ...(isError && { error: text, code, transient }) }
  }
  const batches = run.flatMap((turn) =>
    turn.kind === "results" ? [turn.body.results.filter(({ callId }) => callId !== undefined).map(asAction)] : [],
  )
  const [first] = run
  return {
    goal: first?.kind === "user" ? first.body.text : "",
    actionsDone: batches.flat(),
    failures: (batches.at(-1) ?? []).filter(({ success }) => !success),
    tools: offered.flatMap((name) => callable(name) ?? []),
    signal,
  }

  function callable(name: string): CallableTool | undefined {
    const tool = app.visibleTool(agentId, name)
    if (tool === undefined) return undefined
    const fallbacks = (tool.fallback ?? []).flatMap((each) => offeredAs.get(each.tool) ?? [])
    return { name, group: tool.group, effect: tool.effect, fallbacks }
  }
}
