import type { OrganisationTreeJson, TreeAgentJson } from "../../../src/interfaces/http/routes/org-page-schemas.ts"

/** An agent with those below it; `count` is how many there are below it in all. */
export interface Branch {
  readonly agent: TreeAgentJson
  readonly below: readonly Branch[]
  readonly count: number
}

/** A tree with what changed since. Agents that did not change stay the same objects. */
export function withChanges(
  before: OrganisationTreeJson | undefined,
  read: OrganisationTreeJson,
): OrganisationTreeJson {
  if (read.whole || before === undefined) return read
  const changed = new Map(read.agents.map((each) => [each.id, each]))
  const gone = new Set(read.gone)
  const known = new Set(before.agents.map(({ id }) => id))
  const kept = before.agents.flatMap((each) => (gone.has(each.id) ? [] : [changed.get(each.id) ?? each]))
  return { ...read, agents: [...kept, ...read.agents.filter(({ id }) => !known.has(id))] }
}

/** The agents as trees, in the order in which they came. Whoever has no parent here stands at the top. */
export function branchesOf(agents: readonly TreeAgentJson[]): readonly Branch[] {
  const ids = new Set(agents.map(({ id }) => id))
  const children = new Map<string | undefined, TreeAgentJson[]>()
  for (const agent of agents) {
    const parent = ids.has(agent.parentId ?? "") ? agent.parentId : undefined
    const siblings = children.get(parent)
    if (siblings === undefined) children.set(parent, [agent])
    else siblings.push(agent)
  }
  const branch = (agent: TreeAgentJson): Branch => {
    const below = (children.get(agent.id) ?? []).map(branch)
    return { agent, below, count: below.reduce((sum, each) => sum + each.count + 1, 0) }
  }
  return (children.get(undefined) ?? []).map(branch)
}

/** The branches in which an agent has the text in its name, role or department; those above it stay. */
export function findIn(branches: readonly Branch[], search: string): readonly Branch[] {
  const text = search.trim().toLowerCase()
  if (text === "") return branches
  return branches.flatMap((branch) => {
    const { id, role, department = "" } = branch.agent
    const below = findIn(branch.below, text)
    const isFound = `${id} ${role} ${department}`.toLowerCase().includes(text)
    return isFound || below.length > 0 ? [{ ...branch, below }] : []
  })
}

/** Reports whether those below an agent are hidden at first: where many stand side by side among many agents. */
export const isFoldedAtFirst = ({ below }: Branch, all: number): boolean => all > 40 && below.length > 8
