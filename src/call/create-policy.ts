import type { AuditReader, RuleAdmin } from "../model/app.ts"
import type { Guards } from "../model/guard.ts"
import type { OrganisationAdmin } from "../model/organisation-admin.ts"
import type { AgentView, SessionMode } from "../model/organisation.ts"
import type { Documents } from "../model/documents.ts"
import type { Organisation, Ports } from "../model/ports.ts"
import type { Grant, Rule } from "../model/rule.ts"
import type { RegisteredTool } from "../model/tool.ts"
import { PolicySource } from "../policy/policy-source.ts"
import { rulesApi } from "../policy/rules-api.ts"
import { policyVersion } from "../policy/policy-version.ts"
import { checkTouches, declaredTouches } from "./touches.ts"
import { simulatePolicy } from "./simulate-policy.ts"
import { suggestRules } from "./suggest-rules.ts"

/** What the policy reads: tools, organisation, guards, and the documents with rules and grants. */
export interface PolicyContext {
  documents: Documents
  registry: {
    readonly version: number
    list(): readonly RegisteredTool[]
    canonicalName(written: string): string
    inGroups(tool: RegisteredTool, groups: readonly string[] | null): boolean
    resolve(name: string, who: AgentView | undefined): RegisteredTool | undefined
  }
  groups: { list(): readonly { id: string }[] }
  org: OrganisationAdmin & Organisation
  guards: Guards
  modeOf(sessionId: string): SessionMode
  workspace: string
}

export interface CreatedPolicy {
  policy: PolicySource
  flaws: RuleAdmin["flaws"]
  add: RuleAdmin["add"]
  /** The rules for people. It needs the audit log, to try other rules on recorded calls. */
  rulesApi(ports: Ports, audit: AuditReader): RuleAdmin
}

/** Creates the policy from the rules of the configuration and the store. `decisive` is every part of the configuration that decides. */
export function createPolicy(
  configured: {
    rules?: readonly unknown[] | undefined
    sources?: readonly string[] | undefined
    readOnlyTrusted: readonly string[]
    decisive: unknown
  },
  context: PolicyContext,
): CreatedPolicy {
  const { documents, registry, groups, org, guards, modeOf, workspace } = context
  const tools = {
    canonical: (name: string) => registry.canonicalName(name),
    inGroups: (tool: RegisteredTool, ids: readonly string[] | null) => registry.inGroups(tool, ids),
    resolve: (name: string, who: AgentView | undefined) => registry.resolve(name, who),
  }
  const rules = rulesApi(
    documents,
    { rules: configured.rules ?? [], sources: configured.sources, readOnlyTrusted: configured.readOnlyTrusted },
    {
      ...tools,
      tools: () => registry.list(),
      groups: () => groups.list().map(({ id }) => id),
      roles: () => org.listRoles(),
      departments: () => org.listDepartments().map(({ id }) => id),
      agents: () => org.listAgents().map(({ id }) => id),
      view: (agentId) => org.view(agentId),
      touches: (tool, input) => checkTouches(declaredTouches(tool, input), guards, {}).touches,
      workspace,
    },
  )
  const version = policyVersion(configured.decisive, documents, registry)
  const policyWith = (list: () => readonly Rule[]) =>
    new PolicySource({
      rules: list,
      grants: () => liveGrants(documents),
      modeOf,
      version: () => documents.version,
      tools,
      toolsVersion: () => registry.version,
      policyVersion: version,
      now: Date.now,
    })
  const policy = policyWith(rules.list)
  const { list, flaws, add, remove } = rules
  return {
    policy,
    flaws,
    add,
    rulesApi: (ports, audit) => ({
      list,
      flaws,
      add,
      remove,
      version: () => policy.version,
      suggest: (filter) => suggestRules(filter, { ports, audit, tools }),
      simulate(proposedRules, filter) {
        const stored = list().filter(({ source }) => source.startsWith("rule "))
        const withStored = (proposed: readonly Rule[]) => policyWith(() => [...proposed, ...stored])
        return simulatePolicy(rules.read(proposedRules, "proposed"), filter, { ports, policyWith: withStored, audit })
      },
    }),
  }
}

function liveGrants(documents: Documents): Grant[] {
  return [...documents.all("grant")].filter(({ live }) => live).map(({ body }) => body as Grant)
}
