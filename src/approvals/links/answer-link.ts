import type { PendingItem } from "../../core/approval.ts"

/** A link answers one revision of one item that waits, as one person. */
export interface AnswerLinkTarget {
  callId: string
  kind: PendingItem["kind"]
  revision: number
  person: string
  /** The user of this machine, who is nobody of the organisation. */
  isMachineUser: boolean
}

export interface AnswerLink extends AnswerLinkTarget {
  readonly id: string
  readonly expiresAt: number
  /** `ended`: three wrong PINs. `void`: its person is gone. */
  readonly state: "open" | "used" | "expired" | "ended" | "void"
  /** The time and the content of the answer. */
  readonly usedAt?: number
  readonly said?: "yes" | "no"
  /** Wrong PINs that it still takes. */
  readonly pinTries: number
}

/** Links that answer one item without signing in: for one person, once, for minutes. */
export interface AnswerLinks {
  /** Returns the secret of a link. Only its hash is stored. */
  create(target: AnswerLinkTarget, by: string): Promise<{ secret: string; expiresAt: number }>
  /** The link with this secret, whatever became of it. Undefined when there never was one, or long ago. */
  find(secret: string): Promise<AnswerLink | undefined>
  /** Uses the link up. */
  use(id: string, said: "yes" | "no"): Promise<void>
  /** Counts a wrong PIN. The third ends the link. */
  countWrongPin(id: string): Promise<void>
}

/** The result of checking a PIN: `left` counts the tries before it is locked. */
export type PinCheck = { ok: true } | { ok: false; why: "none" | "wrong" | "locked"; left: number }

/** The PINs of people, for answers from links. Only a slow hash is stored. */
export interface AnswerPins {
  /** Throws a sentence when the PIN is too short or too easy. */
  set(person: string, pin: string, by: string): Promise<void>
  /** Returns whether there was one. */
  clear(person: string, by: string): Promise<boolean>
  isSet(person: string): boolean
  /** Five wrong ones lock it for 15 minutes, in every process. */
  check(person: string, pin: string): Promise<PinCheck>
}
