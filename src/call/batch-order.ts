import type { CallRequest } from "../core/call.ts"

type BatchRequest = Pick<CallRequest, "agentId" | "tool">

/** The name of the tool that a request means, and the tools it depends on; undefined for an unknown tool. */
export type NeedsOf = (request: BatchRequest) => { name: string; needs: readonly string[] } | undefined

/**
 * For each request of a batch, the positions of the requests it runs after: calls of the same agent to tools that its tool
 * depends on, directly or indirectly. Tools that depend on each other do not wait for each other.
 */
export function dependencyIndexes(requests: readonly BatchRequest[], needsOf: NeedsOf): number[][] {
  if (requests.length < 2) return requests.map(() => [])
  const tools = requests.map((request) => needsOf(request))
  if (tools.every((tool) => (tool?.needs.length ?? 0) === 0)) return requests.map(() => [])
  const needs = requests.map(({ agentId }, position) => allNeeds(agentId, tools[position]?.needs ?? [], needsOf))
  return requests.map(({ agentId }, position) =>
    requests.flatMap((other, earlier) => {
      const [name, otherName] = [tools[position]?.name, tools[earlier]?.name]
      if (name === undefined || otherName === undefined || other.agentId !== agentId) return []
      return needs[position]!.has(otherName) && !needs[earlier]!.has(name) ? [earlier] : []
    }),
  )
}

/**
 * Makes all calls of a batch, each as soon as the calls it runs after (`dependencyIndexes`) have ended, with or without
 * success. The results are in the order of the requests.
 */
export function callInOrder<Result>(
  after: readonly (readonly number[])[],
  call: (position: number) => Promise<Result>,
): Promise<Result[]> {
  const started: Promise<Result>[] = []
  const start = (position: number): Promise<Result> => {
    const before = after[position]!
    return (started[position] ??=
      before.length === 0 ? call(position) : Promise.allSettled(before.map(start)).then(() => call(position)))
  }
  return Promise.all(after.map((_, position) => start(position)))
}

function allNeeds(agentId: string, needs: readonly string[], needsOf: NeedsOf): ReadonlySet<string> {
  const found = new Set<string>()
  const remaining = [...needs]
  for (let next = remaining.pop(); next !== undefined; next = remaining.pop()) {
    const tool = needsOf({ agentId, tool: next })
    const name = tool?.name ?? next
    if (found.has(name)) continue
    found.add(name)
    remaining.push(...(tool?.needs ?? []))
  }
  return found
}
