import { newId } from "../../lib/new-id.ts"
import { isStillThere, type Giver } from "../../core/approval.ts"
import type { Documents } from "../../core/documents.ts"
import { readRule } from "../../schema/rule-schema.ts"
import type { Rule, RuleFlaw } from "../../core/rule.ts"
import { compileRule, isAboutTool } from "./conditions.ts"
import { findFlaws, type RuleContext } from "./flaws.ts"

/** Rules that come with Quartermaster. */
const builtIn: readonly Rule[] = [
  {
    id: "root-organises",
    verdict: "allow",
    tool: "group:org_management",
    agent: ["root"],
    because: "Root organises, and does nothing else.",
    source: "built in",
  },
]

/** Every rule that counts: the built-in ones, then the configuration's, then those in the store. */
export function rulesApi(
  documents: Documents,
  configured: {
    rules: readonly unknown[]
    sources?: readonly string[]
    /** The MCP servers that are believed when they say that a tool only reads. */
    readOnlyTrusted?: readonly string[]
  },
  known: RuleContext & { personSince(id: string): string | undefined },
) {
  const { rules: own, flaws: malformed } = readRules(configured.rules, "configuration", configured.sources)
  const given = [...builtIn, ...(configured.readOnlyTrusted ?? []).map(trustReadOnlyRule)]
  let read: { version: number; rules: readonly Rule[]; flaws: readonly RuleFlaw[] } | undefined
  // A document that did not change gives the same rule object, so that a comparison by identity works.
  let before = new Map<string, StoredRule>()
  const stillCounts = (body: unknown) => {
    const { approvedBy } = body as ApprovedRule
    return approvedBy === undefined || isStillThere(approvedBy, known.personSince)
  }
  const look = () => {
    if (read?.version === documents.version) return read
    const stored = [...documents.all("rule")]
      .filter(({ live, body }) => live && stillCounts(body))
      .sort((one, other) => one.change - other.change)
    const now = new Map<string, StoredRule>()
    for (const { id, body, change } of stored) {
      const known = before.get(id)
      now.set(id, known?.change === change ? known : { change, read: readRule(withoutGiver(body), id, `rule ${id}`) })
    }
    before = now
    const each = [...now.values()].map((one) => one.read)
    const rules = each.flatMap((one) => ("rule" in one ? [one.rule] : []))
    const flaws = each.flatMap((one) => ("flaws" in one ? one.flaws : []))
    read = { version: documents.version, rules: [...given, ...own, ...rules], flaws }
    return read
  }
  const list = () => look().rules
  /** Throws for a rule that cannot be stored. One that can match nothing may: what it names may come. */
  const readSound = (written: unknown, id: string): Rule => {
    const made = readRule(written, id, `rule ${id}`)
    const flaws = "flaws" in made ? made.flaws : findFlaws([made.rule], known).filter(({ kind }) => kind !== "dead")
    if (!("flaws" in made) && flaws.length === 0) return made.rule
    throw new Error(`The rule cannot be added: ${flaws.map(({ sentence }) => sentence).join(" ")}`)
  }
  return {
    list,
    flaws: (): readonly RuleFlaw[] => [...malformed, ...look().flaws, ...findFlaws(list(), known)],
    /** Reads rules without storing them, and returns what is wrong with them. */
    read(proposed: readonly unknown[], source: string): { rules: readonly Rule[]; flaws: readonly RuleFlaw[] } {
      const { rules, flaws } = readRules(proposed, source)
      return { rules: [...given, ...rules], flaws: [...flaws, ...findFlaws(rules, known)] }
    },
    /** A rule that is not stored yet, with the flaws that it has among the others. */
    draft(written: unknown, others: readonly Rule[]): { rule?: Rule; flaws: readonly RuleFlaw[] } {
      const made = readRule(written, "draft", "draft")
      if ("flaws" in made) return made
      const { rule } = made
      return { rule, flaws: findFlaws([...others, rule], known).filter(({ source }) => source === rule.source) }
    },
    /** The names of the tools that a rule is about. */
    toolsOf(rule: Rule): string[] {
      const compiled = compileRule(rule, 0, known)
      if (compiled === undefined) return []
      const about = known.tools().filter((tool) => isAboutTool(compiled, tool, known))
      return [...new Set(about.map(({ name }) => name))]
    },
    /** Returns the author, the time and the text of a rule of the store. */
    stored(id: string): StoredRuleFacts | undefined {
      const document = documents.get("rule", id)
      if (document?.live !== true) return undefined
      const { changedBy, changedAt, change, body } = document
      return { by: changedBy, at: changedAt, revision: String(change), written: withoutGiver(body) }
    },
    /** Writes a rule of the store anew. Undefined when it is not stored, or changed after `revision`. */
    async replace(id: string, written: unknown, by: string, revision: string): Promise<Rule | undefined> {
      const rule = readSound(written, id)
      const document = documents.get("rule", id)
      if (document?.live !== true || String(document.change) !== revision) return undefined
      const put = await documents.put({ kind: "rule", id, body: written }, by, document.change)
      return put.written ? rule : undefined
    },
    /** A rule with `approvedBy` counts as long as that person is there. */
    async add(written: unknown, by: string, approvedBy?: Giver): Promise<Rule> {
      const id = newId()
      const rule = readSound(written, id)
      await documents.put({ kind: "rule", id, body: approvedBy ? { ...(written as object), approvedBy } : written }, by)
      return rule
    },
    async remove(id: string, by: string): Promise<Rule | undefined> {
      const found = list().filter((rule) => id !== "" && rule.source.startsWith("rule ") && rule.id.startsWith(id))
      const [rule] = found
      const document = found.length === 1 && rule !== undefined ? documents.get("rule", rule.id) : undefined
      if (rule === undefined || document === undefined) return undefined
      await documents.put({ kind: "rule", id: rule.id, live: false, body: document.body }, by)
      return rule
    },
  }
}

/** A rule of the store, as it was written. */
export interface StoredRuleFacts {
  by: string
  at: number
  /** Opaque. It changes with the rule. */
  revision: string
  written: unknown
}

/** The body of a stored rule that a person made of their approval. */
interface ApprovedRule {
  approvedBy?: Giver
}

function withoutGiver(body: unknown): unknown {
  const { approvedBy: _, ...written } = body as ApprovedRule
  return written
}

/** Returns the rule for `mcpServers.<name>.trustReadOnly`. */
function trustReadOnlyRule(server: string): Rule {
  const source = `mcpServers.${server}.trustReadOnly`
  return {
    id: source,
    verdict: "allow",
    tool: `group:${server}`,
    readOnlyHint: true,
    because: `The configuration believes the server ${server} when it says that a tool only reads.`,
    source,
  }
}

/** A stored rule, with the change of its document at which it was read. */
interface StoredRule {
  change: number
  read: ReturnType<typeof readRule>
}

function readRules(
  given: readonly unknown[],
  source: string,
  sources?: readonly string[],
): { rules: Rule[]; flaws: RuleFlaw[] } {
  const placeOf = (index: number) => sources?.[index] ?? `${source} rules[${index}]`
  const read = given.map((rule, index) => readRule(rule, `${source}-${index}`, placeOf(index)))
  return {
    rules: read.flatMap((each) => ("rule" in each ? [each.rule] : [])),
    flaws: read.flatMap((each) => ("flaws" in each ? each.flaws : [])),
  }
}
