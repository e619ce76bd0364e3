import { hash, randomBytes, randomUUID } from "node:crypto"
import { OrganisationError } from "../model/organisation-book.ts"
import type { Documents, StoredDocument } from "../model/documents.ts"
import type { AgentToken, NewAgentToken, TokenBook } from "../model/token-book.ts"
import { refuseBadName } from "./checks.ts"

export interface TokenOffice {
  documents: Documents
  /** Whether there is such an agent, and it has not ended. */
  isKnown(agentId: string): boolean
  isPerson(id: string): boolean
  /** Ends what waits and came by a revoked token of this agent. */
  onRevoked(agentId: string): Promise<void>
  /** Resolves when other processes have seen what was done. */
  everywhere?(): Promise<void>
  now(): number
}

/** How long a token is good for unless somebody says otherwise. */
export const usualLifetimeMs = 90 * 24 * 60 * 60 * 1000

/** The tokens of agents. Of each only its hash is kept, and it leaves this file by no way. */
export function agentTokens(office: TokenOffice): TokenBook {
  const { documents, now } = office
  let holders: Map<string, KnownToken> | undefined
  documents.onChange((changed) => {
    if (changed.some(({ kind }) => kind === "token")) holders = undefined
  })
  const counts = (token: KnownToken): boolean => {
    const { expiresAt } = token.entry
    if (expiresAt !== null && expiresAt <= now()) return false
    // Every request asks; who there is changes only with the documents.
    if (token.seen?.version !== documents.version)
      token.seen = { version: documents.version, there: isThere(token, office) }
    return token.seen.there
  }

  return {
    async create(given, by) {
      await documents.refresh()
      const { entry, local } = newEntry(given, by, office)
      const token = `qma_${randomBytes(32).toString("base64url")}`
      const body: KeptToken = { ...entry, local, tokenHash: hashOf(token) }
      const put = await documents.put({ kind: "token", id: entry.id, body }, by, 0)
      if (!put.kept) throw new Error("A new token got the id of an old one. Create it again.")
      await office.everywhere?.()
      return { token, entry }
    },

    list({ agentId } = {}) {
      const counting = liveOnes(documents).map(known).filter(counts)
      const asked = counting.flatMap(({ entry }) => (agentId === undefined || entry.agentId === agentId ? [entry] : []))
      return asked.sort((one, other) => one.createdAt - other.createdAt || (one.id < other.id ? -1 : 1))
    },

    async revoke(id, by) {
      await documents.refresh()
      const found = oneThatBegins(id, documents)
      if (found === undefined) return undefined
      const { tokenHash: _hash, ...body } = found.body
      const put = await documents.put({ kind: "token", id: found.id, live: false, body }, by)
      if (put.kept) await Promise.all([office.onRevoked(body.agentId), office.everywhere?.()])
      return known(found).entry
    },

    // Looked up by the hash of what was given, so the time it takes tells nothing of a token that is near.
    holder(token) {
      if (!token.startsWith("qma_") || token.length !== tokenLength) return undefined
      holders ??= new Map(liveOnes(documents).map((document) => [document.body.tokenHash, known(document)]))
      const found = holders.get(hashOf(token))
      return found !== undefined && counts(found) ? found.entry : undefined
    },
  }
}

/** Whether nobody has revoked the token with that id and it has not expired. */
export function tokenCounts(documents: Documents, tokenId: string, at: number): boolean {
  const found = documents.get("token", tokenId)
  const { expiresAt = null } = (found?.body ?? {}) as Partial<AgentToken>
  return found?.live === true && (expiresAt === null || expiresAt > at)
}

/** `qma_` and 32 bytes in base64url. */
const tokenLength = 47

interface KeptToken extends AgentToken {
  tokenHash: string
  /** Whether its person was the user of this machine, who is no person of the organisation. */
  local: boolean
}

interface KnownToken {
  readonly entry: AgentToken
  readonly local: boolean
  seen?: { version: number; there: boolean }
}

/** Its agent and its person. Somebody who got the name of this machine's user later is somebody else. */
function isThere({ entry: { agentId, person }, local }: KnownToken, { isKnown, isPerson }: TokenOffice): boolean {
  return isKnown(agentId) && (person === undefined || isPerson(person) !== local)
}

function hashOf(token: string): string {
  return hash("sha256", token)
}

function liveOnes(documents: Documents): StoredDocument<KeptToken>[] {
  return [...documents.all("token")].filter(({ live }) => live) as StoredDocument<KeptToken>[]
}

function known({ body: { tokenHash: _hash, local, ...entry } }: StoredDocument<KeptToken>): KnownToken {
  return { entry, local }
}

function newEntry(given: NewAgentToken, by: string, { isKnown, isPerson, now }: TokenOffice): KnownToken {
  const { agentId, name = agentId, person, lifetimeMs = usualLifetimeMs } = given
  if (!isKnown(agentId)) {
    throw new OrganisationError(
      "agent_not_found",
      `There is no agent '${agentId}', or it has ended. 'qm agents list' shows who there is.`,
    )
  }
  refuseBadName(name, "invalid_token_name")
  const local = person === by && !isPerson(by)
  if (person !== undefined && !local && !isPerson(person)) {
    throw new OrganisationError(
      "person_not_found",
      `There is no person '${person}'. 'qm people list' shows who there is.`,
    )
  }
  if (lifetimeMs !== null && !(Number.isSafeInteger(lifetimeMs) && lifetimeMs > 0)) {
    throw new OrganisationError(
      "invalid_lifetime",
      "A token is good for a whole number of milliseconds above 0, or null for ever.",
    )
  }
  const createdAt = now()
  const expiresAt = lifetimeMs === null ? null : createdAt + lifetimeMs
  const id = `tok_${randomUUID().replaceAll("-", "").slice(0, 16)}`
  const whose = person === undefined ? {} : { person }
  return { entry: { id, agentId, name, ...whose, createdBy: by, createdAt, expiresAt }, local }
}

function oneThatBegins(beginning: string, documents: Documents): StoredDocument<KeptToken> | undefined {
  if (beginning === "") return undefined
  const live = liveOnes(documents)
  const exact = live.find(({ id }) => id === beginning)
  const near = live.filter(({ id }) => id.startsWith(beginning) || id.startsWith(`tok_${beginning}`))
  if (exact !== undefined || near.length < 2) return exact ?? near[0]
  throw new OrganisationError(
    "token_ambiguous",
    `Several tokens begin with '${beginning}': ${near.map(({ id }) => id).join(", ")}. Give more of the id.`,
  )
}
