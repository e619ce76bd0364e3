import { hash, randomBytes, randomUUID } from "node:crypto"
import type { DocumentKind, Documents, StoredDocument } from "../core/documents.ts"
import { hashToken } from "../lib/person-token.ts"
import type { SessionSecrets, SignedIn, SignIn } from "./sign-in-admin.ts"

const linkMs = 15 * 60_000
const sessionMs = 12 * 60 * 60_000

interface Body {
  person: string
  isMachineUser: boolean
  /** True if the person was one of the organisation. Somebody added later under the same name is somebody else. */
  inOrganisation: boolean
  tokenHash: string
  /** Of a session: the hash of the secret that the page keeps. */
  pageHash?: string
  /** Of a session that began with a person's token: its hash. */
  personTokenHash?: string
  expiresAt: number
}

export interface SignInOptions {
  documents: Documents
  /** Reports whether there is an active person with this id in the organisation. */
  isPerson(id: string): boolean
  personOfToken(token: string): { id: string } | undefined
  /** Reports whether a person's token with this hash works now. */
  isTokenOf(id: string, tokenHash: string): boolean
  now(): number
}

/** Links and sessions, as documents: every process knows them, and those of a person end with the person. */
export function signIn({ documents, isPerson, personOfToken, isTokenOf, now }: SignInOptions): SignIn {
  const isValid = ({ live, body }: StoredDocument<Body>) =>
    live &&
    body.expiresAt > now() &&
    isPerson(body.person) === body.inOrganisation &&
    (body.personTokenHash === undefined || isTokenOf(body.person, body.personTokenHash))
  const find = (kind: DocumentKind, secret: string) => {
    const tokenHash = hashOf(secret)
    for (const document of documents.all(kind) as Iterable<StoredDocument<Body>>)
      if (document.body.tokenHash === tokenHash) return isValid(document) ? document : undefined
    return undefined
  }
  type Given = Pick<Body, "person" | "isMachineUser" | "tokenHash" | "pageHash" | "personTokenHash">
  const create = async (kind: "link" | "session", given: Given, lifetimeMs: number) => {
    const expiresAt = now() + lifetimeMs
    const body: Body = { ...given, inOrganisation: isPerson(given.person), expiresAt }
    const id = randomUUID()
    await documents.put({ kind, id, body }, given.person, 0)
    return { id, expiresAt }
  }
  const begin = async (who: Pick<Body, "person" | "isMachineUser" | "personTokenHash">) => {
    const secrets: SessionSecrets = { cookie: newSecret(), page: newSecret() }
    const hashes = { tokenHash: hashOf(secrets.cookie), pageHash: hashOf(secrets.page) }
    const { id, expiresAt } = await create("session", { ...who, ...hashes }, sessionMs)
    const { person, isMachineUser } = who
    return { secrets, session: { sessionId: id, person, isMachineUser, expiresAt } }
  }
  return {
    async createLink(who) {
      await documents.refresh()
      const link = newSecret()
      const { expiresAt } = await create("link", { ...who, tokenHash: hashOf(link) }, linkMs)
      return { link, expiresAt }
    },
    async redeem(link) {
      await documents.refresh()
      const found = find("link", link)
      if (found === undefined) return undefined
      const { tokenHash: _used, ...body } = found.body
      const { person, isMachineUser } = body
      // Of two who use it at the same moment, one gets the session.
      const used = await documents.put({ kind: "link", id: found.id, live: false, body }, person, found.change)
      if (!used.written) return undefined
      return begin({ person, isMachineUser })
    },
    async redeemToken(token) {
      await documents.refresh()
      const person = personOfToken(token)?.id
      return person === undefined
        ? undefined
        : begin({ person, isMachineUser: false, personTokenHash: hashToken(token) })
    },
    holder({ cookie, page }): SignedIn | undefined {
      const found = find("session", cookie)
      if (found?.body.pageHash === undefined || found.body.pageHash !== hashOf(page)) return undefined
      const { person, isMachineUser, expiresAt } = found.body
      return { sessionId: found.id, person, isMachineUser, expiresAt }
    },
    sessionsOf(person) {
      const own = ([...documents.all("session")] as StoredDocument<Body>[]).filter(({ body }) => body.person === person)
      const starts = own.map(({ body }) => body.expiresAt - sessionMs)
      const sessions = own.filter(isValid).map(({ id, body: { isMachineUser, expiresAt } }) => {
        return { id, isMachineUser, startedAt: expiresAt - sessionMs, expiresAt }
      })
      return {
        sessions: sessions.sort((one, other) => one.startedAt - other.startedAt),
        lastSignIn: starts.length === 0 ? undefined : Math.max(...starts),
      }
    },
    async endAll(person, by) {
      await documents.refresh()
      let ended = 0
      for (const kind of ["session", "link"] as const)
        for (const { id, live, body, change } of [...documents.all(kind)] as StoredDocument<Body>[]) {
          if (!live || body.person !== person) continue
          const { tokenHash: _cookie, pageHash: _page, ...rest } = body
          const put = await documents.put({ kind, id, live: false, body: rest }, by, change)
          if (put.written && kind === "session") ended++
        }
      return ended
    },
    async end(sessionId, by) {
      await documents.refresh()
      const found = documents.get("session", sessionId) as StoredDocument<Body> | undefined
      if (found?.live !== true) return
      const { tokenHash: _cookie, pageHash: _page, ...body } = found.body
      await documents.put({ kind: "session", id: sessionId, live: false, body }, by)
    },
  }
}

function newSecret(): string {
  return randomBytes(32).toString("base64url")
}

function hashOf(secret: string): string {
  return hash("sha256", secret)
}

/** Ends links and sessions whose time is over, so that they need not be read any more. */
export async function endOldSessions(documents: Documents, now: number): Promise<void> {
  for (const kind of ["link", "session"] as const)
    for (const { id, live, body, change } of documents.all(kind) as Iterable<StoredDocument<Body>>) {
      if (!live || body.expiresAt > now) continue
      const { tokenHash: _cookie, pageHash: _page, ...rest } = body
      await documents.put({ kind, id, live: false, body: rest }, "housekeeping", change)
    }
}
