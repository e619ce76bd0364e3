import { hash, randomBytes, randomUUID } from "node:crypto"
import { OrganisationError } from "./organisation-admin.ts"
import type { Documents, StoredDocument } from "../core/documents.ts"
import type { AgentToken, NewAgentToken, AgentTokens } from "./token-admin.ts"
import { defaultTokenLifetimeMs, refuseBadLifetime } from "./token-lifetime.ts"
import { refuseBadName } from "./validation.ts"

export interface AgentTokenOptions {
  documents: Documents
  /** Reports whether the agent exists and has not been terminated. */
  isKnown(agentId: string): boolean
  isPerson(id: string): boolean
  /** Ends the agent's waiting calls that were made with a revoked token. */
  onRevoked(agentId: string): Promise<void>
  /** Waits long enough for other processes to read the change. They do not acknowledge it. */
  waitForOthers?(): Promise<void>
  now(): number
}

/** The tokens of agents. Only their hashes are stored, and the hashes never leave this file. */
export function agentTokens(context: AgentTokenOptions): AgentTokens {
  const { documents, now } = context
  let holders: Map<string, KnownToken> | undefined
  documents.onChange((changed) => {
    if (changed.some(({ kind }) => kind === "token")) holders = undefined
  })
  const isValid = (token: KnownToken): boolean => {
    const { expiresAt } = token.entry
    if (expiresAt !== null && expiresAt <= now()) return false
    // Checked for every request, so the result is cached until a document changes.
    if (token.checked?.version !== documents.version)
      token.checked = { version: documents.version, hasHolder: hasHolder(token, context) }
    return token.checked.hasHolder
  }

  return {
    async create(request, by) {
      await documents.refresh()
      const { entry, local } = newEntry(request, by, context)
      const token = `qma_${randomBytes(32).toString("base64url")}`
      const body: StoredToken = { ...entry, local, tokenHash: hashOf(token) }
      const put = await documents.put({ kind: "token", id: entry.id, body }, by, 0)
      if (!put.written) throw new Error("A new token got the id of an old one. Create it again.")
      await context.waitForOthers?.()
      return { token, entry }
    },

    list({ agentId } = {}) {
      const valid = liveTokens(documents).map(readToken).filter(isValid)
      const entries = valid.flatMap(({ entry }) => (agentId === undefined || entry.agentId === agentId ? [entry] : []))
      return entries.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1))
    },

    async revoke(id, by) {
      await documents.refresh()
      const found = findByBeginning(id, documents)
      if (found === undefined) return undefined
      const { tokenHash: _hash, ...body } = found.body
      const put = await documents.put({ kind: "token", id: found.id, live: false, body }, by)
      if (put.written) await Promise.all([context.onRevoked(body.agentId), context.waitForOthers?.()])
      return readToken(found).entry
    },

    // The lookup is by hash, so its timing does not reveal how close a wrong token is to a real one.
    holder(token) {
      if (!token.startsWith("qma_") || token.length !== tokenLength) return undefined
      holders ??= new Map(liveTokens(documents).map((document) => [document.body.tokenHash, readToken(document)]))
      const found = holders.get(hashOf(token))
      return found !== undefined && isValid(found) ? found.entry : undefined
    },
  }
}

/** Reports whether the token with this id is neither revoked nor expired. */
export function isTokenValid(documents: Documents, tokenId: string, at: number): boolean {
  const found = documents.get("token", tokenId)
  const { expiresAt = null } = (found?.body ?? {}) as Partial<AgentToken>
  return found?.live === true && (expiresAt === null || expiresAt > at)
}

/** `qma_` and 32 bytes in base64url. */
const tokenLength = 47

interface StoredToken extends AgentToken {
  tokenHash: string
  /** True if `person` is the user of this machine, who is not a person of the organisation. */
  local: boolean
}

interface KnownToken {
  readonly entry: AgentToken
  readonly local: boolean
  checked?: { version: number; hasHolder: boolean }
}

/**
 * Reports whether the token's agent and person still exist. A person of the organisation who was later added under the
 * name of this machine's user is somebody else.
 */
function hasHolder(
  { entry: { agentId, person }, local }: KnownToken,
  { isKnown, isPerson }: AgentTokenOptions,
): boolean {
  return isKnown(agentId) && (person === undefined || isPerson(person) !== local)
}

function hashOf(token: string): string {
  return hash("sha256", token)
}

function liveTokens(documents: Documents): StoredDocument<StoredToken>[] {
  return [...documents.all("token")].filter(({ live }) => live) as StoredDocument<StoredToken>[]
}

function readToken({ body: { tokenHash: _hash, local, ...entry } }: StoredDocument<StoredToken>): KnownToken {
  return { entry, local }
}

function newEntry(request: NewAgentToken, by: string, { isKnown, isPerson, now }: AgentTokenOptions): KnownToken {
  const { agentId, name = agentId, person, lifetimeMs = defaultTokenLifetimeMs } = request
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
  refuseBadLifetime(lifetimeMs)
  const createdAt = now()
  const expiresAt = lifetimeMs === null ? null : createdAt + lifetimeMs
  const id = `tok_${randomUUID().replaceAll("-", "").slice(0, 16)}`
  const whose = person === undefined ? {} : { person }
  return { entry: { id, agentId, name, ...whose, createdBy: by, createdAt, expiresAt }, local }
}

function findByBeginning(beginning: string, documents: Documents): StoredDocument<StoredToken> | undefined {
  if (beginning === "") return undefined
  const live = liveTokens(documents)
  const exact = live.find(({ id }) => id === beginning)
  const matches = live.filter(({ id }) => id.startsWith(beginning) || id.startsWith(`tok_${beginning}`))
  if (exact !== undefined || matches.length < 2) return exact ?? matches[0]
  throw new OrganisationError(
    "token_ambiguous",
    `Several tokens begin with '${beginning}': ${matches.map(({ id }) => id).join(", ")}. Give more of the id.`,
  )
}
