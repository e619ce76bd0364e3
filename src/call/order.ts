import type { CallRequest } from "../model/call.ts"

type Asked = Pick<CallRequest, "agentId" | "tool">

/** The name of the tool a request means, and the names of those it needs; nothing for a tool nobody knows. */
export type NeedsOf = (request: Asked) => { name: string; needs: readonly string[] } | undefined

/**
 * For each request of a batch, the positions of those it runs after: calls of the same agent to tools that its own tool
 * needs, directly or by way of others that are not in the batch. What needs each other waits for neither.
 */
export function inDependencyOrder(requests: readonly Asked[], needsOf: NeedsOf): number[][] {
  const meant = requests.map((request) => needsOf(request))
  if (meant.every((tool) => (tool?.needs.length ?? 0) === 0)) return requests.map(() => [])
  const all = requests.map(({ agentId }, position) => allNeeds(agentId, meant[position]?.needs ?? [], needsOf))
  return requests.map(({ agentId }, position) =>
    requests.flatMap((other, earlier) => {
      const [own, its] = [meant[position]?.name, meant[earlier]?.name]
      if (own === undefined || its === undefined || other.agentId !== agentId) return []
      return all[position]!.has(its) && !all[earlier]!.has(own) ? [earlier] : []
    }),
  )
}

/** Makes all calls of a batch, each as soon as those it runs after have ended, however they ended. Results keep the order of the requests. */
export async function callInOrder<Request extends Asked, Result>(
  requests: readonly Request[],
  needsOf: NeedsOf,
  call: (request: Request) => Promise<Result>,
): Promise<Result[]> {
  const after = inDependencyOrder(requests, needsOf)
  const begun = new Map<number, Promise<Result>>()
  const begin = (position: number): Promise<Result> => {
    let calling = begun.get(position)
    if (calling === undefined) {
      const before = after[position]!.map(begin)
      const own = requests[position]!
      calling = before.length === 0 ? call(own) : Promise.allSettled(before).then(() => call(own))
      begun.set(position, calling)
    }
    return calling
  }
  return Promise.all(requests.map((_, position) => begin(position)))
}

function allNeeds(agentId: string, needs: readonly string[], needsOf: NeedsOf): ReadonlySet<string> {
  const found = new Set<string>()
  const open = [...needs]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const tool = needsOf({ agentId, tool: next })
    const name = tool?.name ?? next
    if (found.has(name)) continue
    found.add(name)
    open.push(...(tool?.needs ?? []))
  }
  return found
}
