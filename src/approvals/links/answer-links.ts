import { hash, randomBytes, randomUUID } from "node:crypto"
import type { AnswerLink, AnswerLinks, AnswerLinkTarget } from "./answer-link.ts"
import type { Documents, StoredDocument } from "../../core/documents.ts"
import type { SignInOptions } from "../../org/sign-in.ts"

const linkMs = 15 * 60_000
const mostWrongPins = 3
/** A link that is over is known for this long, so that its page can say what became of it. */
const rememberMs = 24 * 60 * 60_000

interface Body extends AnswerLinkTarget {
  inOrganisation: boolean
  tokenHash?: string
  expiresAt: number
  wrongPins: number
  usedAt?: number
  said?: "yes" | "no"
}

type Stored = StoredDocument<Body>

/** Answer links, as documents: every process knows them, and those of a person end with the person. */
export function answerLinks({
  documents,
  isPerson,
  now,
}: Pick<SignInOptions, "documents" | "isPerson" | "now">): AnswerLinks {
  const stateOf = ({ body }: Stored): AnswerLink["state"] => {
    if (body.usedAt !== undefined) return "used"
    if (body.wrongPins >= mostWrongPins) return "ended"
    if (body.expiresAt <= now()) return "expired"
    return isPerson(body.person) === body.inOrganisation ? "open" : "void"
  }
  /** Changes an open link. Does nothing when it is over already. */
  const change = async (id: string, changed: (body: Body) => Partial<Body>): Promise<void> => {
    for (;;) {
      await documents.refresh()
      const found = documents.get("answer-link", id) as Stored | undefined
      if (found?.live !== true) return
      const body = { ...found.body, ...changed(found.body) }
      const live = body.usedAt === undefined && body.wrongPins < mostWrongPins
      const put = await documents.put({ kind: "answer-link", id, live, body }, body.person, found.change)
      if (put.written) return
    }
  }
  return {
    async create(target, by) {
      await documents.refresh()
      const secret = randomBytes(32).toString("base64url")
      const expiresAt = now() + linkMs
      const inOrganisation = isPerson(target.person)
      const body: Body = { ...target, inOrganisation, tokenHash: hash("sha256", secret), expiresAt, wrongPins: 0 }
      await documents.put({ kind: "answer-link", id: randomUUID(), body }, by, 0)
      return { secret, expiresAt }
    },
    async find(secret) {
      await documents.refresh()
      const tokenHash = hash("sha256", secret)
      for (const document of documents.all("answer-link") as Iterable<Stored>) {
        if (document.body.tokenHash !== tokenHash) continue
        const { tokenHash: _secret, inOrganisation: _known, wrongPins, ...shown } = document.body
        return { ...shown, id: document.id, state: stateOf(document), pinTries: mostWrongPins - wrongPins }
      }
      return undefined
    },
    use: (id, said) => change(id, () => ({ usedAt: now(), said })),
    countWrongPin: (id) => change(id, ({ wrongPins }) => ({ wrongPins: wrongPins + 1 })),
  }
}

/** Forgets links that were over a day ago. */
export async function endOldAnswerLinks(documents: Documents, now: number): Promise<void> {
  for (const { id, body, change } of documents.all("answer-link") as Iterable<Stored>) {
    const { tokenHash, ...rest } = body
    if (tokenHash === undefined || body.expiresAt + rememberMs > now) continue
    await documents.put({ kind: "answer-link", id, live: false, body: rest }, "housekeeping", change)
  }
}
