import { withMatchingLimit } from "../../lib/glob.ts"
import type { AuditReader } from "../../audit/audit-reader.ts"
import type { RuleAdmin, RuleDrafts } from "../rule-admin.ts"
import { isStillThere } from "../../core/approval.ts"
import type { Guards } from "../../core/guard.ts"
import type { OrganisationAdmin } from "../../org/organisation-admin.ts"
import type { AgentView, SessionMode } from "../../core/organisation.ts"
import type { Documents } from "../../core/documents.ts"
import type { Organisation } from "../../org/organisation.ts"
import type { DecisionPorts } from "./ports.ts"
import type { Grant, Rule, RuleFlaw } from "../../core/rule.ts"
import type { RegisteredTool } from "../../core/tool.ts"
import { PolicySource } from "./policy-source.ts"
import { rulesApi } from "../rules/rules-api.ts"
import { policyVersion } from "./policy-version.ts"
import { checkTouches, declaredTouches, loadGuards } from "../touches.ts"
import { simulatePolicy } from "./simulate-policy.ts"
import { suggestRules } from "./suggest-rules.ts"
import { toolsFor } from "./tools-for.ts"
import { tryDraft } from "./try-draft.ts"

/** The inputs of the policy: tools, organisation, guards, and the documents with rules and grants. */
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
  personSince(id: string): string | undefined
  modeOf(who: AgentView, sessionId: string): SessionMode
  workspace: string
}

export interface CreatedPolicy {
  policy: PolicySource
  flaws: RuleAdmin["flaws"]
  /** Adds the rule that a person made of their approval. It ends when they are removed. */
  addApproved: RuleAdmin["add"]
  /** The rules for people. It needs the audit log, to try other rules on recorded calls. */
  rulesApi(ports: DecisionPorts, audit: AuditReader): RuleAdmin
}

/** Creates the policy from the rules of the configuration and the store. `decisive` is every part of the configuration that decides. */
export function createPolicy(
  configured: {
    rules?: readonly unknown[]
    sources?: readonly string[]
    readOnlyTrusted: readonly string[]
    decisive: unknown
  },
  context: PolicyContext,
): CreatedPolicy {
  const { documents, registry, groups, org, guards, personSince, modeOf, workspace } = context
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
      personSince,
      touches(tool, input) {
        const declared = declaredTouches(tool, input)
        // Not loaded yet: another process has just stored the first rule with an example.
        if (loadGuards(declared, guards) !== undefined) return { list: declared ?? [], proved: false }
        return checkTouches(declared, { tool, input }, guards, {}).touches
      },
      workspace,
    },
  )
  const version = policyVersion(configured.decisive, documents, registry)
  const policyWith = (list: () => readonly Rule[]) =>
    new PolicySource({
      rules: list,
      grants: () => liveGrants(documents, personSince),
      modeOf,
      version: () => documents.version,
      tools,
      toolsVersion: () => registry.version,
      policyVersion: version,
      now: Date.now,
    })
  const policy = policyWith(rules.list)
  const { list, remove, replace, stored, toolsOf } = rules
  let foundFlaws: { key: string; flaws: readonly RuleFlaw[] } | undefined
  /** Looking for them takes long for thousands of rules. They change only with documents and tools. */
  const flaws = (): readonly RuleFlaw[] => {
    const key = `${documents.version} ${registry.version}`
    if (foundFlaws?.key !== key) foundFlaws = { key, flaws: rules.flaws() }
    return foundFlaws.flaws
  }
  /** Trying an example reads its commands, and the parsers for that are loaded only where they are needed. */
  const loadForExamples = async (some: readonly unknown[]) => {
    const hasExamples = some.some((rule) => (rule as Partial<Rule> | null)?.examples !== undefined)
    if (hasExamples) await guards.ready([{ kind: "command", what: "" }])
  }
  const add: RuleAdmin["add"] = async (rule, by) => {
    await loadForExamples([rule])
    return rules.add(rule, by)
  }
  return {
    policy,
    flaws,
    addApproved: (rule, by) => rules.add(rule, by, { by, since: personSince(by) ?? null }),
    rulesApi: (ports, audit) => ({
      list,
      flaws,
      add,
      remove,
      replace,
      stored,
      toolsOf,
      tryDraft: (draft, calls, { mostSteps } = {}) =>
        tryDraft(draft, calls, { rules, policyWith, ports, loadForExamples, mostSteps }),
      toolsFor: (who) => toolsFor(who, registry.list(), ports),
      version: () => policy.version,
      suggest: (filter) => suggestRules(filter, { ports, audit, tools }),
      ready: () => loadForExamples(list()),
      async simulate(given, filter, limits = {}) {
        const { rules: configured, add = [], without = [] } = isList(given) ? { rules: given } : given
        await loadForExamples([...(configured ?? []), ...add])
        const { mostSteps = Number.POSITIVE_INFINITY } = limits
        const kept = list().filter(({ id, source }) => source.startsWith("rule ") && !without.includes(id))
        const proposed = withMatchingLimit(mostSteps, () => {
          const base = configured === undefined ? undefined : rules.read(configured, "proposed")
          const inPlace = base?.rules ?? list().filter(({ source }) => !source.startsWith("rule "))
          const drafts = add.map((draft) => rules.draft(draft, [...inPlace, ...kept]))
          return {
            rules: [...inPlace, ...drafts.flatMap(({ rule }) => rule ?? [])],
            flaws: [...(base?.flaws ?? []), ...drafts.flatMap((draft) => draft.flaws)],
          }
        })
        const withKept = (proposed: readonly Rule[]) => policyWith(() => [...proposed, ...kept])
        return simulatePolicy(proposed, filter, { ports, policyWith: withKept, audit }, limits)
      },
    }),
  }
}

function isList(given: readonly unknown[] | RuleDrafts): given is readonly unknown[] {
  return Array.isArray(given)
}

/** The remembered answers. A yes of a removed person counts no more; a no counts until somebody revokes it. */
export function liveGrants(documents: Documents, personSince: (id: string) => string | undefined): Grant[] {
  return [...documents.all("grant")]
    .filter(({ live }) => live)
    .map(({ body }) => body as Grant)
    .filter((grant) => grant.verdict === "deny" || isStillThere(grant, personSince))
}
