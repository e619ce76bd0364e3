import type { Quartermaster } from "../../../../app/quartermaster.ts"
import { setTimeout as sleep } from "node:timers/promises"
import type { Answer, PendingItem } from "../../../../core/approval.ts"

/** The person of the story. A script plays her. */
const person = "ann"

/** The words that root's script waits for (examples/sample/models/guide.yml). */
const request = "Please let Lantern greet people in Spanish, and have it checked."

/** Time limit of the story. It takes half a minute; this ends one in which something waits for ever. */
const longestMs = 120_000

/**
 * Lets root's team work on Ann's request until root has answered it, and returns the answer. `pauseMs` is how long Ann
 * thinks before each of her answers. Undefined when there was none in time or the signal aborted.
 */
export async function playStory(app: Quartermaster, pauseMs: number, stop: AbortSignal): Promise<string | undefined> {
  const signal = AbortSignal.any([stop, AbortSignal.timeout(longestMs)])
  const answered = new Set<string>()
  const answerAll = async () => {
    for (const item of await app.approvals.list()) {
      const key = `${item.callId} ${item.kind} ${item.revision}`
      if (answered.has(key)) continue
      answered.add(key)
      await sleep(pauseMs, undefined, { signal })
      await app.approvals.answer(item.callId, answerOf(item), person, item.revision)
    }
  }
  const stopListening = app.on("TOOL_CALL_WAITING", () => void answerAll().catch(() => {}))
  const society = app.society.start()
  try {
    const { id } = await app.society.message({ to: "root", payload: request, by: person })
    const answer = await app.society.answer(id, { signal })
    // The run that answered writes its end into the audit log after its answer.
    if (answer !== undefined) await society.idle()
    return typeof answer?.payload === "string" ? answer.payload : undefined
  } finally {
    stopListening()
    await society.stop()
  }
}

/** Returns Ann's answer. She corrects a misspelt greeting, keeps results to herself and agrees to the rest. */
function answerOf({ kind, question, input }: PendingItem): Answer {
  if (kind === "question") return { kind: "answer", value: question?.options?.[0] ?? "Yes" }
  if (kind === "result") return { kind: "withhold", reason: "Make up a name instead." }
  const given = JSON.stringify(input)
  const corrected = given.replace("Holla,", "¡Hola,")
  return given === corrected ? { kind: "approve" } : { kind: "edit", input: JSON.parse(corrected) as unknown }
}
