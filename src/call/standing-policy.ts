import type { AuditReader, RuleReader } from "../model/app.ts"
import type { Guards } from "../model/guard.ts"
import type { OrganisationBook } from "../model/organisation-book.ts"
import type { AgentView, SessionMode } from "../model/organisation.ts"
import type { Documents } from "../model/documents.ts"
import type { Organisation, Ports } from "../model/ports.ts"
import type { Grant, Rule } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { PolicyBook } from "../policy/book.ts"
import { ruleDoor } from "../policy/rule-door.ts"
import { policyVersion } from "../policy/version.ts"
import { lookAt } from "./looked.ts"
import { simulate } from "./simulate.ts"

/** What rules are about and grants are kept in. */
export interface PolicyGround {
  documents: Documents
  registry: {
    readonly version: number
    list(): readonly RegisteredTool[]
    nameOf(written: string): string
    inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean
    resolve(name: string, who: AgentView | undefined): RegisteredTool | undefined
  }
  groups: { list(): readonly { id: string }[] }
  org: OrganisationBook & Organisation
  guards: Guards
  modeOf(sessionId: string): SessionMode
  workspace: string
}

export interface StandingPolicy {
  policy: PolicyBook
  flaws: RuleReader["flaws"]
  /** The rules for people, once there is a record of calls to try other rules on. */
  door(ports: Ports, audit: AuditReader): RuleReader
}

/** The rules of the configuration and the store, and the policy that decides by them. `decisive` is all of the configuration that decides. */
export function standingPolicy(
  configured: { rules?: readonly unknown[] | undefined; sources?: readonly string[] | undefined; decisive: unknown },
  ground: PolicyGround,
): StandingPolicy {
  const { documents, registry, groups, org, guards, modeOf, workspace } = ground
  const tools = {
    canonical: (name: string) => registry.nameOf(name),
    inGroups: (tool: RegisteredTool, ids: readonly string[] | null) => registry.inGroups(tool, ids),
    resolve: (name: string, who: AgentView | undefined) => registry.resolve(name, who),
  }
  const rules = ruleDoor(
    documents,
    { rules: configured.rules ?? [], sources: configured.sources },
    {
      ...tools,
      tools: () => registry.list(),
      groups: () => groups.list().map(({ id }) => id),
      roles: () => org.listRoles(),
      departments: () => org.listDepartments().map(({ id }) => id),
      agents: () => org.listAgents().map(({ id }) => id),
      view: (agentId) => org.view(agentId),
      touches: (tool, input) => lookAt(tool, input, guards, {}).touches,
      workspace,
    },
  )
  const version = policyVersion(configured.decisive, documents, registry)
  const policyWith = (list: () => readonly Rule[]) =>
    new PolicyBook({
      rules: list,
      grants: () => liveGrants(documents),
      modeOf,
      version: () => documents.version,
      tools,
      toolsVersion: () => registry.version,
      policyVersion: version,
    })
  const policy = policyWith(rules.list)
  const { list, flaws, add, remove } = rules
  return {
    policy,
    flaws,
    door: (ports, audit) => ({
      list,
      flaws,
      add,
      remove,
      version: () => policy.version,
      simulate(given, filter) {
        const stored = list().filter(({ source }) => source.startsWith("rule "))
        const besides = (proposed: readonly Rule[]) => policyWith(() => [...proposed, ...stored])
        return simulate(rules.read(given, "proposed"), filter, { ports, policyWith: besides, audit })
      },
    }),
  }
}

function liveGrants(documents: Documents): Grant[] {
  return [...documents.all("grant")].filter(({ live }) => live).map(({ body }) => body as Grant)
}
