import { nearestName } from "../lib/nearest-name.ts"
import type { Approvers, RuleVerdict } from "../core/rule.ts"
import type { Path } from "./schema-path.ts"

interface KnownPerson {
  id: string
  roles: readonly string[]
  hasToken?: boolean
  madeBy: string
}

interface ApproverSources {
  rules: readonly { path: Path; verdict: RuleVerdict; approvers?: Approvers }[]
  /** The active people. */
  people: readonly KnownPerson[]
  /** The ids under `org.people`, in their order. */
  configured: readonly string[]
  /** The user of this machine, who needs no token. */
  login: string
}

/** Rules that ask for people who do not exist, or who cannot prove who they are. */
export function approverNotes({ rules, people, configured, login }: ApproverSources): {
  path: Path
  sentence: string
}[] {
  const asking = rules.flatMap(({ path, verdict, approvers }) =>
    verdict === "ask" && approvers !== undefined ? [{ path: [...path, "approvers"], ...approvers }] : [],
  )
  const roles = new Set(people.flatMap((person) => person.roles))
  const everybody = new Set([...people.map(({ id }) => id), login]).size
  const missing = asking.flatMap(({ path, role, count }) => {
    if (role === undefined) return everybody < count ? [{ path, sentence: tooFew(count, "", everybody, "<id>") }] : []
    if (!roles.has(role)) return [{ path: [...path, "role"], sentence: nobody(role, roles) }]
    const have = people.filter((person) => person.roles.includes(role)).length
    return have < count
      ? [{ path, sentence: tooFew(count, ` with the role '${role}'`, have, `<id> --roles ${role}`) }]
      : []
  })
  const wanted = new Set(asking.flatMap(({ role }) => (role === undefined ? [] : [role])))
  const unproved = people.filter(
    ({ id, hasToken, madeBy, roles: held }) =>
      madeBy === "configuration" && hasToken !== true && id !== login && held.some((role) => wanted.has(role)),
  )
  return [
    ...missing,
    ...unproved.map(({ id }) => ({
      path: ["org", "people", configured.indexOf(id)],
      sentence: `'${id}' has no tokenHash, so only a login of that name can answer as this person. 'qm people token ${id}' makes a token, and the line to write here.`,
    })),
  ]
}

function nobody(role: string, roles: Iterable<string>): string {
  const guess = nearestName(role, roles)
  const help = guess === undefined ? `'qm people create <id> --roles ${role}' adds one.` : `Did you mean '${guess}'?`
  return `No person has the role '${role}', so calls that this rule asks for can only expire. ${help}`
}

function tooFew(count: number, which: string, have: number, flags: string): string {
  return `The rule needs ${count} people${which}, and there ${have === 1 ? "is 1" : `are ${have}`}, so calls that it asks for can only expire. 'qm people create ${flags}' adds one.`
}
