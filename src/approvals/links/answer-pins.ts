import { randomBytes, scrypt, timingSafeEqual } from "node:crypto"
import type { AnswerPins } from "./answer-link.ts"
import type { Documents, StoredDocument } from "../../core/documents.ts"
import { OrganisationError } from "../../org/organisation-admin.ts"

const mostTries = 5
const lockMs = 15 * 60_000

interface Body {
  person: string
  /** The time since when the person is one of the organisation. Somebody added later under the same name is another. */
  since: string | null
  pinHash: string
  wrong: number
  triedAt: number
}

export interface PinOptions {
  documents: Documents
  /** Since when there is an active person with this id in the organisation; an empty text for a configured one. */
  personSince(id: string): string | undefined
  now(): number
}

/** PINs of people, as documents, so that wrong tries count in every process. */
export function answerPins({ documents, personSince, now }: PinOptions): AnswerPins {
  const find = (person: string): StoredDocument<Body> | undefined => {
    const found = documents.get("answer-pin", person) as StoredDocument<Body> | undefined
    return found?.live === true && found.body.since === (personSince(person) ?? null) ? found : undefined
  }
  const put = (body: Body, by: string, expected?: number) =>
    documents.put({ kind: "answer-pin", id: body.person, body }, by, expected)
  return {
    async set(person, pin, by) {
      refuseEasy(pin)
      const since = personSince(person) ?? null
      const salt = randomBytes(16)
      const pinHash = `${salt.toString("hex")}:${(await slowHash(pin, salt)).toString("hex")}`
      await put({ person, since, pinHash, wrong: 0, triedAt: 0 }, by)
    },
    async clear(person, by) {
      await documents.refresh()
      const found = documents.get("answer-pin", person) as StoredDocument<Body> | undefined
      if (found?.live !== true) return false
      const { pinHash: _cleared, ...body } = found.body
      await documents.put({ kind: "answer-pin", id: person, live: false, body }, by)
      return true
    },
    isSet: (person) => find(person) !== undefined,
    async check(person, pin) {
      for (;;) {
        await documents.refresh()
        const found = find(person)
        if (found === undefined) return { ok: false, why: "none", left: 0 }
        const wrong = found.body.triedAt + lockMs > now() ? found.body.wrong : 0
        if (wrong >= mostTries) return { ok: false, why: "locked", left: 0 }
        // Counted before it is looked at: of many tries at the same moment, five are looked at.
        const tried = await put({ ...found.body, wrong: wrong + 1, triedAt: now() }, person, found.change)
        if (!tried.written) continue
        if (!(await isRight(pin, found.body.pinHash))) {
          const left = mostTries - wrong - 1
          return { ok: false, why: left === 0 ? "locked" : "wrong", left }
        }
        await put({ ...found.body, wrong: 0, triedAt: 0 }, person, tried.document.change)
        return { ok: true }
      }
    },
  }
}

function refuseEasy(pin: string): void {
  const steps = new Set(Array.from(pin.slice(1)).map((digit, index) => Number(digit) - Number(pin[index])))
  const [step = 0] = steps
  const isRun = steps.size <= 1 && Math.abs(step) <= 1
  const problem = !/^\d{6,32}$/.test(pin)
    ? "A PIN has at least 6 digits (at most 32) and nothing else. Choose another."
    : isRun
      ? "A PIN such as 111111 or 123456 is the first that others try. Choose another."
      : undefined
  if (problem !== undefined) throw new OrganisationError("invalid_pin", problem)
}

async function isRight(pin: string, stored: string): Promise<boolean> {
  const [salt = "", expected = ""] = stored.split(":")
  return timingSafeEqual(await slowHash(pin, Buffer.from(salt, "hex")), Buffer.from(expected, "hex"))
}

function slowHash(pin: string, salt: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(pin, salt, 32, (error, key) => (error === null ? resolve(key) : reject(error)))
  })
}
