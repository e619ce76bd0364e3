import { setTimeout as sleep } from "node:timers/promises"
import type { App } from "../model/app.ts"
import type { DeskItem, Heard, Saying } from "../model/approval.ts"
import { showItem, unseen } from "./answers.ts"
import { readJson } from "./arguments.ts"
import type { Session } from "./house.ts"
import { answer, say } from "./output.ts"
import { withPerson } from "./session.ts"
import { idOf, severalBegin, wholeNumber } from "./usage.ts"

export interface SayFlags {
  revision?: string
}

/** What a person says to something that waits; exit 1 when it did not count. */
export function sayTo(
  session: Session,
  id: string,
  sayingTo: (item: DeskItem | undefined) => Saying,
  { revision }: SayFlags,
): Promise<number> {
  const seen = wholeNumber("--revision", revision)
  const named = idOf(id)
  return withPerson(session, async ({ desk }, by) => {
    const { heard } = await hear(desk, named, sayingTo, by.id, seen)
    return showHeard(session, heard)
  })
}

/** Gives a call another input, then shows what became of it: the new revision, or why it stands as it was. */
export function editInput(session: Session, id: string, json: string, { revision }: SayFlags): Promise<number> {
  const input = readJson(json, "The new input is")
  const seen = wholeNumber("--revision", revision)
  const named = idOf(id)
  return withPerson(session, async ({ desk }, by) => {
    const { heard, item } = await hear(desk, named, () => ({ say: "edit", input }), by.id, seen)
    if (!heard.ok || item === undefined) return showHeard(session, heard)
    say(session, heard.sentence)
    const back = await nextRevision(desk, item)
    if (back !== undefined) await showItem(session, back, { whole: true })
    else answer(session, heard, `It is not back yet. 'qm approvals show ${item.callId}' shows it when it is.`)
    return 0
  })
}

function showHeard(session: Session, heard: Heard): number {
  if (session.flags.json || heard.ok) answer(session, heard, heard.sentence)
  else say(session, heard.sentence)
  return heard.ok ? 0 : 1
}

/**
 * An id that names nothing that waits is said to the desk as it is: it knows who has answered already. A yes to what has
 * changed must name the revision that was seen.
 */
async function hear(
  desk: App["desk"],
  id: string,
  sayingTo: (item: DeskItem | undefined) => Saying,
  by: string,
  revision: number | undefined,
) {
  const item = await desk.show(id)
  const several = item === undefined ? await beginningWith(desk, id) : []
  if (several.length > 0) throw severalBegin(id, several)
  const saying = sayingTo(item)
  const isYes = saying.say === "approve" || saying.say === "release"
  const sentence = item !== undefined && isYes && revision === undefined ? unseen(item) : undefined
  if (sentence !== undefined) return { heard: { ok: false as const, sentence }, item }
  const heard = await desk.say(item?.callId ?? id, saying, by, revision ?? item?.revision)
  return { heard, item }
}

/** What waits with an id that begins so, where that is more than one. */
export async function beginningWith(desk: App["desk"], id: string): Promise<string[]> {
  const ids = (await desk.list()).map(({ callId }) => callId).filter((callId) => callId.startsWith(id))
  return ids.length > 1 ? ids : []
}

const patienceMs = 5000

async function nextRevision(desk: App["desk"], before: DeskItem): Promise<DeskItem | undefined> {
  for (const end = Date.now() + patienceMs; Date.now() < end; await sleep(100)) {
    const now = await desk.show(before.callId)
    if (now !== undefined && now.revision > before.revision) return now
  }
  return undefined
}
