import type { CliContext } from "./context.ts"
import { ambiguousPendingIds } from "./approvals-answer.ts"
import { contextOfServer, findServer } from "./open.ts"
import { withApp, personOf } from "./open-app.ts"
import { printResult } from "./output.ts"
import { formatTime } from "./time-text.ts"
import { ambiguousId, CannotDo, requireId } from "./usage.ts"

/** Prints a link that answers one item as the user of this machine, or as the person of --as. */
export async function linkPending(given: CliContext, id: string): Promise<number> {
  const beginning = requireId(id)
  const context = await contextOfServer(given)
  return withApp(context, {}, async (app, loaded) => {
    const server = await findServer(context, loaded.dataDir)
    const item = await app.approvals.show(beginning)
    if (item === undefined) {
      const several = await ambiguousPendingIds(app.approvals, beginning)
      if (several.length > 0) throw ambiguousId(beginning, several)
      const sentence = `Nothing waits with the id '${beginning}'. 'qm approvals list' shows what waits.`
      throw new CannotDo("nothing_waits", sentence)
    }
    const { id: person } = await personOf(context, app, loaded)
    const { callId, kind, revision } = item
    const target = { callId, kind, revision, person, isMachineUser: context.flags.as === undefined }
    const { secret, expiresAt } = await app.answerLinks.create(target, person)
    const url = `${server.url}/answer/${secret}`
    const text = `${url}\nThis link answers call ${callId}, revision ${revision}, as ${person}: once, until ${formatTime(expiresAt)}.`
    printResult(context, { url, callId, revision, person, expiresAt }, text)
    return 0
  })
}
