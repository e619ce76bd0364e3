import type { NewTurn } from "../../core/conversation.ts"
import type { Message } from "../../core/organisation.ts"
import type { Ticket } from "../../core/result.ts"
import type { TurnLog } from "./log.ts"
import type { NextStep } from "./next-step.ts"
import type { CallContext } from "./call-context.ts"
import type { ChainTurn, EndTurn } from "../context/turns.ts"

/** The messages of a stored conversation: those that wait for it, and what it answers. */
export interface ChainMail {
  /** Messages that wait, as turns, and their ids. With `begins` they begin a run, else they come while one works. */
  take(turns: readonly ChainTurn[], begins: boolean): Promise<{ turns: NewTurn[]; reads: string[] } | undefined>
  /** Asks a person when too many messages led to this run. Returns undefined when it may go on. */
  checkHops(log: TurnLog, calls: CallContext): Promise<{ waiting: Ticket } | { usedUp: string } | undefined>
  /** The answers to send when a run ends like this. */
  answers(turns: readonly ChainTurn[], ended: EndTurn): Promise<readonly Message[]>
  /** These answers are stored. */
  sent(answers: readonly Message[]): void
}

/** Delivers messages that wait, between two requests or before a run. Each is in the turns from the moment it is read. */
export async function receiveMail(mail: ChainMail | undefined, log: TurnLog, step: NextStep): Promise<boolean> {
  const isIdle = step.kind === "nothing" || (step.kind === "done" && log.turns.at(-1)?.kind === "end")
  const isAsking = step.kind === "ask" && step.last === false
  const taken = isIdle || isAsking ? await mail?.take(log.turns, isIdle) : undefined
  if (taken === undefined) return false
  await log.append(taken.turns, { state: "active", reads: taken.reads })
  return true
}

/** Ends a run, with its answers in the same transaction. Returns what `append` does. */
export async function endRun(
  mail: ChainMail | undefined,
  log: TurnLog,
  ended: EndTurn,
  change: Parameters<TurnLog["append"]>[1],
): Promise<boolean> {
  if (mail === undefined) return log.append([{ kind: "end", body: ended }], change)
  const sends = await mail.answers(log.turns, ended)
  const answered = sends.flatMap(({ about }) => about ?? [])
  const body: EndTurn = answered.length === 0 ? ended : { ...ended, answered }
  if (!(await log.append([{ kind: "end", body }], { ...change, sends }))) return false
  mail.sent(sends)
  return true
}
